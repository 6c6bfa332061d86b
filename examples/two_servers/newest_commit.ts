// Two servers in one program: when was the newest commit made, by a clock in Tokyo?
const log = await tools.git.git_log({ repo_path: context.repository, max_count: 1 });
const text = log.content.map((block) => (block.type === "text" ? block.text : "")).join("");
const [, day, time] = /Date: (\S+) (\S+)/.exec(text)!;
const utc = new Date(`${day}T${time}`).toISOString().slice(11, 16);
const converted = await tools.time.convert_time({ source_timezone: "UTC", time: utc, target_timezone: "Asia/Tokyo" });
const { target } = JSON.parse(converted.content[0].text);
return { utc, tokyo: target.datetime.slice(11, 16) };
