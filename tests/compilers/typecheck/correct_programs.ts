Programs as models write them, that run well with the sources of typecheck_world.py. TypeScript has something to say
about many of them, and none may be kept from running. Each begins with a line of its title.

// === one call
const result = await tools.time.get_current_time({ timezone: "Europe/Oslo" });
return result.structuredContent;
// === text of a result without a type
const status = await tools.git.git_status({ repo_path: "." });
return status.content[0].text.split("\n").length;
// === commits out of text
const log = await tools.git.git_log({ repo_path: "/repo", max_count: 20 });
const text = log.content.map((block: any) => block.text ?? "").join("\n");
const commits = text.split("\n\n").map((part) => {
  const [, hash] = /Commit: (\w+)/.exec(part) ?? [];
  return { hash, author: part.match(/Author: (.*)/)?.[1] };
});
return commits;
// === fan-out over issues
const { structuredContent: page } = await tools.github.list_issues({ owner: "acme", repo: "app", state: "open" });
const details = await Promise.all(
  page.issues.map((issue) => tools.github.get_issue({ owner: "acme", repo: "app", issue_number: issue.number })),
);
return details.map((detail) => detail.structuredContent.title);
// === a helper that is generic
async function inBatches<T, R>(items: T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += size) {
    done.push(...(await Promise.all(items.slice(at, at + size).map(work))));
  }
  return done;
}
const zones = ["Europe/Oslo", "Asia/Tokyo", "America/Lima"];
const times = await inBatches(zones, 2, (timezone) => tools.time.get_current_time({ timezone }));
return times.map((time) => time.structuredContent?.datetime);
// === counting with reduce into an empty object
const found = await tools.github.list_issues({ owner: "acme", repo: "app" });
const counts = found.structuredContent.issues.reduce((sums, issue) => {
  for (const label of issue.labels ?? []) sums[label.name] = (sums[label.name] || 0) + 1;
  return sums;
}, {} as Record<string, number>);
return counts;
// === an object that grows
const summary: any = {};
const out = {};
const page = (await tools.github.list_issues({ owner: "acme", repo: "app" })).structuredContent;
out.total = page.total_count;
out["first"] = page.issues[0].title;
summary.out = out;
return summary;
// === own interface for untyped data
interface Package { name: string; version: string; private?: boolean }
const file = await tools.files.read_file({ path: "package.json" });
const pkg = JSON.parse(file.content[0].text) as Package;
return `${pkg.name}@${pkg.version}`;
// === an own type that claims too much
type Issue = { number: string; title: string };
const issues = (await tools.github.list_issues({ owner: "a", repo: "b" })).structuredContent.issues as unknown as Issue[];
const one = await tools.github.get_issue({ owner: "a", repo: "b", issue_number: issues[0].number as any });
return one.structuredContent.title;
// === either kind of result
const result = await tools.time.convert_time({ source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" });
let data = result.structuredContent;
if (data === undefined) {
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  try { data = JSON.parse(text); } catch { data = text; }
}
return data.time_difference;
// === a failure that is caught
try {
  await tools.github.get_issue({ owner: "acme", repo: "app", issue_number: 404 });
} catch (error) {
  if (error instanceof ToolCallError && error.code === "TOOL_EXECUTION_FAILED") return "none";
  return { failed: error.message };
}
return "found";
// === settled all
const names = ["a.ts", "b.md"];
const settled = await Promise.allSettled(names.map((name) => tools.files.read_file({ path: name })));
const good = settled.filter((each) => each.status === "fulfilled").map((each: any) => each.value.content[0].text);
const bad = settled.filter((each): each is PromiseRejectedResult => each.status === "rejected").map((e) => String(e.reason));
return { good: good.length, bad };
// === pages until there are no more
const all = [];
let page: number | null = 1;
do {
  const { structuredContent } = await tools.github.list_issues({ owner: "acme", repo: "app", page, per_page: 100 });
  all.push(...structuredContent.issues);
  page = structuredContent.next_page;
} while (page);
return all.length;
// === a cursor that begins as nothing
let next;
let rounds = 0;
while (rounds < 2) {
  const answer = await tools.github.list_issues(next ? { owner: "a", repo: "b", page: next } : { owner: "a", repo: "b" });
  next = answer.structuredContent.next_page;
  rounds++;
}
return rounds;
// === arguments in a variable
const args = { owner: "acme", repo: "app", state: "open", labels: ["bug"] };
const issues = await tools.github.list_issues(args);
return issues.structuredContent.issues.length;
// === arguments that are filled in
const args: any = {};
args.owner = "acme";
args.repo = "app";
return (await tools.github.list_issues(args)).structuredContent.total_count;
// === arguments that are filled in without a type
const query = { owner: "acme" };
query.repo = "app";
if (Math.random() > 2) query.since = new Date();
return (await tools.github.list_issues(query)).structuredContent.total_count;
// === arguments that are spread
const place = { owner: "acme", repo: "app" };
const made = await tools.github.create_issue({ ...place, title: "Follow up", labels: ["bug", "later"] });
await tools.github.add_comment({ ...place, issue_number: made.structuredContent.number, body: "cc @ada" });
return made.structuredContent.url;
// === a default before a spread
const search = (options = {}) => tools.github.list_issues({ owner: "acme", repo: "app", ...options });
const [open, rest] = await Promise.all([search({ state: "open" }), search()]);
return [open.structuredContent.total_count, rest.structuredContent.total_count];
// === states in an array
const totals = {};
for (const state of ["open", "closed"]) {
  const { structuredContent } = await tools.github.list_issues({ owner: "acme", repo: "app", state });
  totals[state] = structuredContent.total_count;
}
return totals;
// === states as const
const STATES = ["open", "closed"] as const;
const pages = await Promise.all(STATES.map((state) => tools.github.list_issues({ owner: "a", repo: "b", state })));
return Object.fromEntries(pages.map((page, index) => [STATES[index], page.structuredContent.issues.length]));
// === a date as text
const since = new Date(0);
const page = await tools.github.list_issues({ owner: "a", repo: "b", since: since.toISOString() });
return page.structuredContent.issues.sort((a, b) => new Date(b.created_at) - new Date(a.created_at))[0].number;
// === a date as it is
return (await tools.github.list_issues({ owner: "a", repo: "b", since: new Date(0) })).structuredContent.total_count;
// === names found at run time
const seen = [];
for (const source of Object.keys(tools)) {
  for (const name of Object.keys(tools[source])) seen.push(`${source}.${name}`);
}
return seen.length > 10;
// === a tool chosen at run time
const name: string = ["git", "status"].join("_");
const answer = await tools.git[name]({ repo_path: "." });
return answer.content[0].text;
// === a tool whose name is put together
const results = await Promise.all(["status", "log"].map((what) => tools.git[`git_${what}`]({ repo_path: "." })));
return results.length;
// === through the door for any tool
const answer = await tools.$call("git", "git_status", { repo_path: "." });
const again = await tools.$call("my-notes", "add note", { text: "done" });
return [answer.content.length, again.structuredContent.id];
// === only if it is there
if ("jira" in tools) return await tools.jira.search({ jql: "x" });
const source = Object.keys(tools).includes("gitlab") ? tools.gitlab : tools.github;
return source === tools.github;
// === names in brackets
const added = await tools["my-notes"]["add note"]({ text: "remember", tags: ["a"], pinned: true });
const listed = await tools["my-notes"].list({ tag: "a" });
return [added.structuredContent.id, listed.structuredContent.map((note) => note.text)];
// === dotted names
const { contacts } = (await tools.crm.contacts.find({ query: "ada", limit: 1 })).structuredContent;
await tools.crm["contacts.update"]({ id: contacts[0].id, fields: { region: "south", score: 5, nested: { a: [1] } } });
return contacts[0].name;
// === fields the schema does not name
const { contacts } = (await tools.crm.contacts.find({ query: "ada" })).structuredContent;
const { deals } = (await tools.crm.deals.list({})).structuredContent;
return { region: contacts[0].region, owner: deals[0].owner, week: (await tools.time.get_current_time({ timezone: "UTC" })).structuredContent.day_of_week };
// === a filter of one kind or another
const won = await tools.crm.deals.list({ filter: { stage: "won" } });
const large = await tools.crm.deals.list({ filter: { min_amount: 500 }, limit: 5 });
return won.structuredContent.total + large.structuredContent.total;
// === a filter put together
const filter: any = Math.random() < 2 ? { stage: "won" } : { min_amount: 1 };
const { structuredContent } = await tools.crm.deals.list({ filter });
return structuredContent.deals.map(({ name, amount, stage }) => ({ name, amount, stage }));
// === sums by group in a Map
const { deals } = (await tools.crm.deals.list()).structuredContent;
const groups = new Map();
for (const deal of deals) groups.set(deal.stage, (groups.get(deal.stage) ?? 0) + deal.amount);
return Object.fromEntries([...groups].sort(([, a], [, b]) => b - a));
// === Object.groupBy
const { deals } = (await tools.crm.deals.list({})).structuredContent;
const byStage = Object.groupBy ? Object.groupBy(deals, (deal) => deal.stage) : { won: deals };
return byStage.won.length;
// === what the language has had for a short time
const { issues } = (await tools.github.list_issues({ owner: "a", repo: "b" })).structuredContent;
const logins = new Set(issues.map((issue) => issue.user.login)).union(new Set(["kim"]));
const grouped = Map.groupBy(issues, (issue) => issue.state);
const titles = new Map(issues.map((issue) => [issue.number, issue.title])).values().filter((title) => title).toArray();
const zones = await Array.fromAsync(["UTC"], (timezone) => tools.time.get_current_time({ timezone }));
return [logins.size, grouped.size, titles.toSorted().at(-1), zones.length];
// === optional chaining everywhere
const r = await tools.github.search_issues?.({ query: "crash", sort: "created", order: "desc" });
return r?.structuredContent?.[0]?.labels?.[0]?.name ?? r?.structuredContent?.length ?? 0;
// === is it an error
const result = await tools.files.write_file({ path: "out.txt", content: JSON.stringify({ a: 1 }, null, 2) });
if (result.isError) throw new Error(result.content[0].text);
return result.content[0].text === "ok";
// === a careful look at a result
const result = await tools.files.list_directory({ path: "." });
const rows = result.structuredContent?.result ?? result.result ?? result.data ?? [];
const { isError } = result;
return { rows: rows.length, isError: !!isError };
// === list or wrapper
const raw = (await tools.github.search_issues({ query: "bug" })).structuredContent;
const items = Array.isArray(raw) ? raw : raw.items;
return items.length;
// === list or wrapper, the other way round
const raw = (await tools.github.search_issues({ query: "bug" })).structuredContent;
const items = raw.items ?? raw.results ?? raw;
return items.map((item) => item.number);
// === results that do not keep to their schema
const history = await tools.chat.history({ channel: "dev" });
return history.structuredContent.messages.map((message) => message.text);
// === blocks of any kind
const sent = await tools.chat.send({
  channel: "dev",
  text: "report",
  blocks: [{ type: "header", text: "Issues" }, "plain", 3],
});
return sent.structuredContent.id;
// === promise chains
return tools.github
  .list_issues({ owner: "acme", repo: "app" })
  .then((page) => page.structuredContent.issues)
  .then((issues) => issues.filter((issue) => !issue.labels?.length))
  .then((issues) => issues.map((issue) => issue.number))
  .catch(() => []);
// === a value instead of a failure
const page = await tools.github.list_issues({ owner: "a", repo: "b" }).catch((error) => ({ error: String(error) }));
return page.error ? page.error : page.structuredContent.total_count;
// === a promise kept for later
const pending = tools.github.list_issues({ owner: "acme", repo: "app" });
const time = await tools.time.get_current_time({ timezone: "UTC" });
const issues = (await pending).structuredContent.issues;
return [issues.length, time.structuredContent.is_dst];
// === a variable that is a promise first
let result = tools.time.get_current_time({ timezone: "UTC" });
result = await result;
return result.structuredContent.timezone;
// === a variable that is used twice
let result = await tools.git.git_status({ repo_path: "." });
result = await tools.github.get_issue({ owner: "a", repo: "b", issue_number: 11 });
return result.structuredContent.user.login;
// === a value that begins as another
let newest = "";
for (const issue of (await tools.github.list_issues({ owner: "a", repo: "b" })).structuredContent.issues) newest = issue.number;
const state = { last: "" };
state.last = newest as any;
const first = await tools.github.get_issue({ owner: "a", repo: "b", issue_number: newest });
const second = await tools.github.get_issue({ owner: "a", repo: "b", issue_number: state.last });
return [first.structuredContent.number, second.structuredContent.number];
// === a parameter with a default of another type
async function show(id = "") {
  return (await tools.github.get_issue({ owner: "a", repo: "b", issue_number: id })).structuredContent.title;
}
return show(11);
// === helpers in a class
class Repository {
  private cache = new Map<number, any>();
  constructor(private readonly owner: string, private repo: string) {}
  async issue(issue_number: number) {
    if (!this.cache.has(issue_number)) {
      const { structuredContent } = await tools.github.get_issue({ owner: this.owner, repo: this.repo, issue_number });
      this.cache.set(issue_number, structuredContent);
    }
    return this.cache.get(issue_number)!;
  }
}
const repository = new Repository("acme", "app");
await repository.issue(11);
return (await repository.issue(11)).title;
// === an enum of its own
enum Level { Low = "low", High = "high" }
const levels: Record<number, Level> = {};
for (const issue of (await tools.github.list_issues({ owner: "a", repo: "b" })).structuredContent.issues) {
  levels[issue.number] = issue.labels?.some((label) => label.name === "bug") ? Level.High : Level.Low;
}
return levels;
// === a function as the whole program
async function main() {
  const { structuredContent } = await tools.time.get_current_time({ timezone: "UTC" });
  return structuredContent;
}
// === a function that is exported and takes the globals
export default async function ({ tools, context }) {
  const page = await tools.github.list_issues({ owner: context?.owner ?? "acme", repo: "app" });
  return page.structuredContent.total_count;
}
// === a function in a fence
Here is the program:
```ts
const zones: string[] = ["UTC"];
return Promise.all(zones.map((timezone) => tools.time.get_current_time({ timezone })));
```
// === what was passed in
const owner = context?.owner ?? "acme";
const { limit = 10, ...rest } = context ?? {};
const page = await tools.github.list_issues({ owner, repo: "app", per_page: limit, ...rest });
return page.structuredContent.issues.slice(0, limit).length;
// === shadowing names
const name = "x", status = 1, event = 2;
const console2 = console;
const git = tools.git;
const { git_status: check } = git;
const done = await check({ repo_path: "." });
console2.log(name, status, event);
return done.content.length;
// === a table of work
const jobs: Array<[string, () => Promise<any>]> = [
  ["status", () => tools.git.git_status({ repo_path: "." })],
  ["show", () => tools.git.git_show({ repo_path: ".", revision: "HEAD" })],
  ["add", async () => { await tools.git.git_add({ repo_path: ".", files: ["a.ts"] }); }],
];
const report = {};
for (const [name, job] of jobs) report[name] = (await job())?.content?.[0]?.text ?? null;
return report;
// === a wrapper around any tool
const attempt = async (fn, args, tries = 3) => {
  for (let left = tries; left > 0; left--) {
    try { return await fn(args); } catch (error) { if (left === 1) throw error; }
  }
};
const r = await attempt(tools.time.get_current_time, { timezone: "UTC" });
return r.structuredContent.timezone;
// === a tool that may have another name
const find = tools.github.search_issues ?? tools.github.find_issues;
const issues = (await find({ query: "x" })).structuredContent;
return issues.length;
// === names that are not ASCII
const größe = "größe 😀";
const übersicht = { größe, "日本語": (await tools.time.get_current_time({ timezone: "UTC" })).structuredContent.datetime };
return übersicht;
// === two arguments where one counts
return (await tools.time.get_current_time({ timezone: "UTC" }, { signal: null })).structuredContent.timezone;
// === a generator
async function* pages(owner: string) {
  for (let page = 1; page <= 2; page++) yield (await tools.github.list_issues({ owner, repo: "app", page })).structuredContent;
}
let count = 0;
for await (const page of pages("acme")) count += page.issues.length;
return count;
// === JSON in text, searched
const { content } = await tools.files.read_file({ path: "package.json", head: 50 });
const text = content.find((block) => block.type === "text")?.text;
const { version, ...others } = JSON.parse(text || "{}");
const [major, minor] = version.split(".").map(Number);
return { major, minor, others };
// === satisfies and non-null
const body = { channel: "dev", text: "x" } satisfies { channel: string; text: string; thread?: string };
const sent = await tools.chat.send(body);
return sent!.structuredContent!.id;
