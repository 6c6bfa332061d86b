// What time is it where Sora works? One answer makes the next question.
const team = await tools.team.members({});
const sora = team.structuredContent!.find(({ name }) => name === "Sora")!;
const now = await tools.time.get_current_time({ timezone: sora.timezone });
return { name: sora.name, now: now.structuredContent!.datetime };
