// Checks the given files and prints "file<TAB>line: error" lines. `each` makes a program of every file, `together` one of
// all. The parsed library is shared, which makes a program cost a fraction of a second.
const path = require("node:path");
const [modules, mode, folder, ...files] = process.argv.slice(2);
const ts = require(path.join(modules, "typescript"));

const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts"], types: [] };
const host = ts.createCompilerHost(options);
const parsed = new Map();
const read = host.getSourceFile.bind(host);
host.getSourceFile = (name, ...rest) => {
  if (!path.basename(name).startsWith("lib.")) return read(name, ...rest);
  if (!parsed.has(name)) parsed.set(name, read(name, ...rest));
  return parsed.get(name);
};

function report(file, found) {
  const place = found.file && found.start !== undefined ? found.file.getLineAndCharacterOfPosition(found.start).line : -1;
  const message = ts.flattenDiagnosticMessageText(found.messageText, " ").replace(/\s+/g, " ");
  process.stdout.write(`${file}\t${place + 1}: TS${found.code} ${message.slice(0, 300)}\n`);
}

function check(names) {
  const program = ts.createProgram(names.map((name) => path.join(folder, name)), options, host);
  for (const found of program.getGlobalDiagnostics()) report(names[0], found);
  for (const name of names) {
    const source = program.getSourceFile(path.join(folder, name));
    try {
      for (const found of [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]) {
        report(name, found);
      }
    } catch (error) {
      process.stdout.write(`${name}\t0: the compiler failed: ${error.message}\n`);
    }
  }
}

if (mode === "together") check(files);
else for (const file of files) check([file]);
