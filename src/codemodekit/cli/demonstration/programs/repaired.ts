// Now messages go out. The receipt says that a second run would repeat them.
const message = `The release goes out at ${context.release} UTC`;
const sent = [];
for (const name of context.names) {
  const answer = await tools.team.notify({ name, text: message });
  sent.push(answer.structuredContent);
}
return sent;
