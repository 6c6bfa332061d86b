// A field is misspelt: nothing is sent, and the diagnostic says how to mend it.
const message = `The release goes out at ${context.release} UTC`;
for (const name of context.names) {
  await tools.team.notify({ name, txt: message });
}
return "told everybody";
