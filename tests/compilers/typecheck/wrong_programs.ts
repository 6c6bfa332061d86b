Programs with a mistake about a tool, as models make them. Each begins with a line of its title, the kind of mistake, and
the tool if there is one; `/*!*/` stands in front of the place that must be told.

// === a source that is called otherwise | unknownSource
const issues = await tools./*!*/gitHub.list_issues({ owner: "acme", repo: "app" });
return issues;
// === a source that does not exist | unknownSource
await tools.time.get_current_time({ timezone: "UTC" });
await tools./*!*/jira.create({ title: "x" });
// === a source out of the globals | unknownSource
const { /*!*/slack, git } = tools;
await slack.post({ text: "x" });
// === a source in brackets | unknownSource
return await /*!*/tools["my-note"].list({});
// === a tool in another spelling | unknownTool | github.listIssues
return tools.github./*!*/listIssues({ owner: "acme", repo: "app" });
// === a tool by another name | unknownTool | github.list_pulls
const gh = tools.github;
gh./*!*/list_pulls({ owner: "acme", repo: "app" });
// === a tool out of a source | unknownTool | git.git_push
const { /*!*/git_push } = tools.git;
await git_push({ repo_path: "." });
// === a tool in brackets | unknownTool | my-notes.add notes
return await /*!*/tools["my-notes"]["add notes"]({ text: "x" });
// === a tool with a dot in its name | unknownTool | crm.contacts.search
const r = await tools.crm.contacts./*!*/search({ query: "x" });
// === a source that is called | unknownTool
await tools./*!*/time({ timezone: "UTC" });
// === a group of tools that is called | unknownTool
await tools.crm./*!*/contacts({ query: "x" });
// === a field in another spelling | wrongField | github.list_issues
return tools.github.list_issues({ owner: "acme", repo: "app", /*!*/perPage: 50 });
// === a field that is not there | wrongField | git.git_log
return tools.git.git_log({
  repo_path: ".",
           /*!*/oneline: true,
});
// === a field inside of another | wrongField | my-notes.add note
return tools["my-notes"]["add note"]({ text: "x", remind: { at: "noon", /*!*/via: "mail" } });
// === a field that is missing inside of another | missingField | my-notes.add note
return tools["my-notes"]["add note"]({ text: "x", /*!*/remind: { by: "mail" } });
// === a field beyond the basic plane | wrongField | time.get_current_time
const größe = "😀😀";
/* 😀 */ await tools.time.get_current_time({ timezone: größe, /*!*/"日": 1 });
// === a field through a variable for the tool | wrongField | time.get_current_time
const now = tools.time.get_current_time;
return now({ timezone: "UTC",      /*!*/zone: "Z" });
// === a field that is missing | missingField | github.get_issue
return await tools.github.get_issue(/*!*/{ owner: "acme", repo: "app" });
// === fields that are missing | missingField | time.convert_time
const zone = "UTC";
const r = await tools.time.convert_time(/*!*/{ source_timezone: zone });
// === a field that is missing in a fan-out | missingField | github.create_issue
const titles: string[] = ["a", "b"];
return await Promise.all(titles.map((title) => tools.github.create_issue(/*!*/{ owner: "acme", title })));
// === a number as text | wrongType | github.get_issue
return tools.github.get_issue({ owner: "acme", repo: "app",    /*!*/issue_number: "12" });
// === text as a number | wrongType | files.read_file
return await tools.files.read_file({    /*!*/path: 5 });
// === one for a list | wrongType | github.list_issues
return tools.github.list_issues({ owner: "acme", repo: "app",    /*!*/labels: "bug" });
// === a list for one | wrongType | chat.send
return tools.chat.send({ text: "x",   /*!*/channel: ["a", "b"] });
// === an item of a list | wrongType | my-notes.add note
return tools["my-notes"]["add note"]({ text: "x", tags: ["a", /*!*/1] });
// === what another tool answered | wrongType | github.get_issue
const { issues } = (await tools.github.list_issues({ owner: "a", repo: "b" })).structuredContent;
for (const issue of issues) {
  console.log(await tools.github.get_issue({ owner: "a", repo: "b",  /*!*/issue_number: issue.title }));
}
// === what another tool answered, through a variable | wrongType | github.add_comment
const found = await tools.github.search_issues({ query: "crash" });
const first = found.structuredContent[0];
const id = first.user;
await tools.github.add_comment({ owner: "a", repo: "b", body: "x", /*!*/issue_number: id });
// === a value that is not offered | wrongValue | github.list_issues
return tools.github.list_issues({ owner: "acme", repo: "app", /*!*/state: "opened" });
// === a value in another spelling | wrongValue | crm.deals.export
return await tools.crm.deals.export({ /*!*/format: "CSV" });
// === no argument | wrongArguments | time.get_current_time
return await tools.time./*!*/get_current_time();
// === text for an argument | wrongArguments | files.read_file
return await tools.files.read_file(/*!*/"package.json");
// === arguments one after another | wrongArguments | github.get_issue
return await tools.github.get_issue("acme", /*!*/"app", 11);
// === a promise that is read | notAwaited
const issues = tools.github.list_issues({ owner: "acme", repo: "app" });
return issues./*!*/structuredContent.issues;
// === promises that are read | notAwaited
const pages = ["a", "b"].map((repo) => tools.github.list_issues({ owner: "acme", repo }));
return pages.map((page) => page. /*!*/structuredContent.issues.length);
// === a promise that is gone through | notAwaited
for (const issue of /*!*/tools.github.search_issues({ query: "x" })) console.log(issue);
// === a promise as an argument | notAwaited | chat.send
return await tools.chat.send({ channel: "dev",         /*!*/text: tools.git.git_status({ repo_path: "." }) });
// === data without its wrapper | wrongResult | github.list_issues
const page = await tools.github.list_issues({ owner: "acme", repo: "app" });
return page./*!*/issues.length;
// === data taken apart without its wrapper | wrongResult | github.list_issues
const { /*!*/issues } = await tools.github.list_issues({ owner: "acme", repo: "app" });
return issues.map((issue) => issue.number);
// === a field of the data in another spelling | wrongResult | github.get_issue
const { structuredContent: issue } = await tools.github.get_issue({ owner: "a", repo: "b", issue_number: 1 });
return issue.title + issue.user.login + (  issue. /*!*/createdAt);
// === a field of open data in another spelling | wrongResult | time.get_current_time
const now = await tools.time.get_current_time({ timezone: "UTC" });
return now.structuredContent./*!*/dateTime;
// === a field that closed data cannot have | wrongResult | github.list_issues
const page = await tools.github.list_issues({ owner: "acme", repo: "app" });
const rows = page.structuredContent.  /*!*/items.map((issue) => issue.number);
// === an object that is taken for a list | wrongResult | crm.deals.list
const deals = await tools.crm.deals.list({});
return deals.structuredContent./*!*/filter((deal) => deal.stage === "won");
// === an object that is gone through | wrongResult | crm.deals.list
const deals = await tools.crm.deals.list({});
for (const deal of /*!*/deals.structuredContent) console.log(deal);
// === a result that is taken for its data | wrongResult
const files = await tools.git.git_status({ repo_path: "." });
return files./*!*/map((file) => file.path);
// === in a code fence | unknownTool | git.git_diff
Sure, here it is:
```ts
tools.git. /*!*/git_diff({ repo_path: "." });
```
// === in a function alone | missingField | files.read_file
// reads a file
async function main(): Promise<unknown> {
  const file = tools.files.read_file(/*!*/{ head: 5 });
  return file;
}
// === in an exported function that takes the globals | unknownTool | files.readFile
export default async ({ tools }) => {
  return await tools.files./*!*/readFile({ path: "a" });
};
// === after an enum and a parameter property | wrongValue | crm.deals.export
enum Format { Csv = "csv", Tsv = "tsv" }
class Exporter {
  constructor(private name: string) {} run() { return tools.crm.deals.export({ /*!*/format: "tsv" }); }
}
return new Exporter("x").run();
// === where it would be caught | unknownTool | git.git_stash
try { return await tools. git./*!*/git_stash({}); } catch { return null; }
