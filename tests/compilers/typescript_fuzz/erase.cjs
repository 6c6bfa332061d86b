// Reads a JSON list of program texts and prints the list of what the real compiler makes of each: JavaScript, or null
// where it finds a mistake in the syntax, or makes a module of it.
const path = require("node:path");
const ts = require(path.join(process.argv[2], "typescript"));

const compilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  useDefineForClassFields: true,
};

function erased(text) {
  const whole = `(async function () {\n${text}\n})`;
  const parsed = ts.createSourceFile("program.ts", whole, ts.ScriptTarget.ESNext);
  if (parsed.parseDiagnostics.length) return null;
  const made = ts.transpileModule(whole, { compilerOptions }).outputText.trim();
  const body = made.slice("(async function () {".length, made.lastIndexOf("}"));
  return /^\s*(export|import) /m.test(body) ? null : body;
}

const texts = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(erased)));
