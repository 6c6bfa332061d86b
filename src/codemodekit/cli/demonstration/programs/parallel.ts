// Who is at work when the release goes out? One call a person, all at once.
const team = await tools.team.members({});
const clocks = await Promise.all(
  team.structuredContent!.map(async ({ name, timezone }) => {
    const converted = await tools.time.convert_time({
      source_timezone: "UTC",
      time: context.release,
      target_timezone: timezone,
    });
    const { target } = converted.structuredContent!;
    return { name, time: target.datetime.slice(11, 16) };
  }),
);
return clocks.filter(({ time }) => time >= "09:00" && time < "18:00");
