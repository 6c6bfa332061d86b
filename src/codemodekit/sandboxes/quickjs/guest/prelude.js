// The JavaScript half of the guest: builds the globals a program sees and speaks with the host through texts.
//
// Runs once, when the module is baked. Everything it needs later is captured here, before any program runs, so that a
// program which alters prototypes or globals hurts only itself. Strings are joined with `+` throughout: the engine looks
// up `String.prototype.concat` for template literals. `native` is the C half (shim.c).
// One long file, since all of it shares one closure of what was captured.
//
// `take` gives one text a step:
//   C calls [\n unhandled]                      the program waits
//   R calls \n unhandled \n value              it returned (no third line: undefined)
//   T calls \n unhandled \n error              it threw
// where calls are pairs of lines, [id, source, tool] and the arguments' JSON, joined by the unit separator U+001F.
((native) => {
  'use strict';
  const { apply, ownKeys, defineProperty, deleteProperty, getPrototypeOf, setPrototypeOf } = Reflect;
  const { parse, stringify } = JSON;
  const { keys, freeze, getOwnPropertySymbols: symbolsOf } = Object;
  const isEnumerable = Object.prototype.propertyIsEnumerable;
  const PromiseOf = Promise;
  const ProxyOf = Proxy;
  const then = Promise.prototype.then;
  const dateTime = Date.prototype.getTime;
  const dateText = Date.prototype.toISOString;
  const brands = { __proto__: null, 0: Number.prototype.valueOf, 1: String.prototype.valueOf, 2: Boolean.prototype.valueOf };
  const slice = String.prototype.slice;
  const ErrorOf = Error;
  const stackOf = Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get;
  const isInstance = Function.prototype[Symbol.hasInstance];
  const prototypes = [];
  for (const Type of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError]) {
    prototypes[prototypes.length] = Type.prototype;
  }
  const TypeErrorOf = TypeError;
  const toText = String;
  const bigIntOf = BigInt;
  const EXACT = Number.MAX_SAFE_INTEGER;
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  const plain = (value) => ({ __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const captured = (Type, ...names) => {
    const methods = { __proto__: null };
    for (const name of names) methods[name] = Type.prototype[name];
    return methods;
  };
  const { get: weakGet, set: weakSet } = captured(WeakMap, 'get', 'set');
  const { add: knownAdd, delete: knownDelete } = captured(WeakSet, 'add', 'delete');
  const setForEach = Set.prototype.forEach;
  const { set: mapSet, delete: mapDelete, forEach: mapForEach } = captured(Map, 'set', 'delete', 'forEach');
  const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, 'size').get;

  // --- the globals: one list, the same in every sandbox of the language -------------------------------------------
  const ALLOWED = [
    'Object', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'Math', 'JSON', 'Reflect', 'Proxy', 'Promise',
    'Map', 'Set', 'WeakMap', 'WeakSet', 'Date', 'RegExp', 'Iterator', 'Error', 'EvalError', 'RangeError',
    'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'AggregateError', 'ArrayBuffer', 'DataView', 'Int8Array',
    'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array',
    'Float64Array', 'BigInt64Array', 'BigUint64Array', 'globalThis', 'undefined', 'NaN', 'Infinity', 'parseInt',
    'parseFloat', 'isNaN', 'isFinite', 'encodeURI', 'encodeURIComponent', 'decodeURI', 'decodeURIComponent',
  ];
  const refuseCode = function () {
    throw new TypeErrorOf('code cannot be made from text in this sandbox');
  };
  for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    defineProperty(getPrototypeOf(sample), 'constructor', { value: refuseCode, writable: false, configurable: false });
  }
  for (const name of ownKeys(globalThis)) {
    if (typeof name === 'string' && !ALLOWED.includes(name)) deleteProperty(globalThis, name);
  }
  for (const name of ['captureStackTrace', 'prepareStackTrace', 'stackTraceLimit']) deleteProperty(ErrorOf, name);
  Math.random = native.random;

  // --- values to JSON ---------------------------------------------------------------------------------------------
  // JSON.stringify would drop a Map, a function or NaN without a word. This writer refuses them and says where.
  const MAX_DEPTH = 200;
  // The numbers native.kind answers with, in the order of shim.c.
  const KINDS = ['', 'an array', 'an Error', 'a Date', 'a boxed value', 'a Promise', 'a Map', 'a Set', 'a RegExp',
    'a weak collection', 'binary data', 'a typed array', 'an iterator', 'a boxed symbol or BigInt',
    'a Proxy of a built-in object', 'a revoked Proxy'];
  const PLAIN = 0, ARRAY = 1, ERROR = 2, DATE = 3, BOXED = 4, MAP = 6, SET = 7, ITERATOR = 12, BOXED_OTHER = 13;
  native.sample({}, PLAIN);
  for (const sample of [Object(1), Object(''), Object(true)]) native.sample(sample, BOXED);
  for (const sample of [Object(1n), Object(Symbol())]) native.sample(sample, BOXED_OTHER);
  const none = [];
  for (const sample of [none.values(), new Map().values(), new Set().values(), ''[Symbol.iterator](), ''.matchAll(/x/g),
    Iterator.from({ next() {} }), none.values().map(() => 0), Iterator.concat?.(none) ?? none.values(),
    (function* () {})(), (async function* () {})()]) native.sample(sample, ITERATOR);
  const refusals = new WeakMap();
  const isRefusal = (problem) => isObject(problem) && apply(weakGet, refusals, [problem]) === true;
  class Refusal {
    constructor(kind, what, trail) {
      this.kind = kind;
      this.what = what;
      this.path = pathOf(trail);
      apply(weakSet, refusals, [this, true]);
    }
  }
  const cut = (text, most) => (text.length > most ? apply(slice, text, [0, most]) + '…' : text);
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  const exec = RegExp.prototype.exec;
  const pathOf = (trail) => {
    let path = '$';
    for (let i = 0; i < trail.length; i++) {
      const step = trail[i];
      if (typeof step === 'number') path += '[' + step + ']';
      else if (apply(exec, IDENTIFIER, [step]) !== null) path += '.' + step;
      else path += '[' + stringify(step) + ']';
    }
    return path;
  };
  const CURE = {
    __proto__: null,
    'a Map': 'use Object.fromEntries(map) or [...map]',
    'a Set': 'use [...set]',
    'a Promise': 'await it first',
    'a RegExp': 'use its .source',
    'a typed array': 'use Array.from(it)',
    'binary data': 'convert it to an array or a string',
    'a weak collection': 'it cannot be listed; keep the values in an array',
    'a boxed symbol or BigInt': 'unbox it with .valueOf()',
    'a BigInt': 'use Number(it) or String(it)',
    'a function': 'return the value it computes',
    'a symbol': 'use its .description',
    'a symbol as a name': 'use a text as the name',
    'an iterator': 'use [...it], or collect an asynchronous one with for await',
    'a Proxy of a built-in object': 'return what stands behind it',
    'a revoked Proxy': 'return what stood behind it',
    'an invalid Date': 'check the date before returning it',
    'NaN': 'use null, or check the computation',
    'Infinity': 'use null, or check the computation',
    'a cycle': 'return the parts that are needed',
  };
  // For reading (`lenient`: what is printed, or thrown) a value is shown as far as it can be.
  const refuse = (what) => {
    if (lenient) return grow('[' + what + ']');
    throw new Refusal('value', what + ' has no JSON form; ' + CURE[what], trail);
  };
  // One writing at a time; a `toJSON` that itself makes calls or prints starts another, so the state is kept aside.
  let trail = { __proto__: null, length: 0 };
  let above = { __proto__: null };
  let size = 0;
  let most = 0;
  let written = 0;
  let last = Infinity;
  let lenient = false;
  const full = () => lenient && size > most;
  const toJson = (value, limit, values = Infinity, forReading = false) => {
    const kept = { __proto__: null, trail, above, size, most, last, lenient };
    lenient = forReading;
    trail = { __proto__: null, length: 0 };
    above = { __proto__: null };
    size = 0;
    most = limit;
    last = written + values;
    try {
      return write(value, '', true);
    } finally {
      ({ trail, above, size, most, last, lenient } = kept);
    }
  };
  const grow = (text) => {
    size += text.length + 1;
    // A bound on the way: one more for the comma that the last part does not have. The host measures bytes.
    if (size > most + 1 && !lenient) throw new Refusal('size', 'it is too large', trail);
    return text;
  };
  const writeArray = (list) => {
    const { length } = list;
    const depth = trail.length++;
    let text = '[';
    for (let i = 0; i < length; i++) {
      if (full()) {
        text += ', …';
        break;
      }
      trail[depth] = i;
      const item = write(list[i], i, true);
      text += (i === 0 ? '' : ',') + (item === undefined ? grow('null') : item);
    }
    trail.length = depth;
    return text + ']';
  };
  const readable = (object, name) => {
    const depth = trail.length;
    try {
      return write(object[name], name, true);
    } catch (_) {
      trail.length = depth;
      return grow('[not readable]');
    }
  };
  const writeFields = (object) => {
    const names = keys(object);
    const depth = trail.length++;
    let text = '{';
    for (let i = 0; i < names.length; i++) {
      if (full()) {
        text += ', …';
        break;
      }
      const name = names[i];
      trail[depth] = name;
      const item = lenient ? readable(object, name) : write(object[name], name, true);
      if (item !== undefined) text += (text === '{' ? '' : ',') + grow(stringify(name)) + ':' + item;
    }
    trail.length = depth;
    return text + '}';
  };
  const writeError = (error) => {
    const { name = 'Error', message = '' } = error;
    return grow('{"name":' + stringify(toText(name)) + ',"message":' + stringify(toText(message)) + '}');
  };
  const hasSymbols = (object) => {
    const symbols = symbolsOf(object);
    for (let i = 0; i < symbols.length; i++) if (apply(isEnumerable, object, [symbols[i]])) return true;
    return false;
  };
  const writeObject = (object, key, mayConvert) => {
    const kind = native.kind(object);
    if (kind === DATE && apply(dateTime, object, []) !== apply(dateTime, object, [])) return refuse('an invalid Date');
    if (kind > BOXED_OTHER) return refuse(KINDS[kind]);
    if (mayConvert) {
      const { toJSON } = object;
      if (typeof toJSON === 'function') return write(apply(toJSON, object, [toText(key)]), key, false);
    }
    if (kind > ARRAY) {
      if (kind === ERROR) return writeError(object);
      if (kind === DATE) return grow(stringify(apply(dateText, object, [])));
      if (kind === BOXED) return write(unbox(object), key, false);
      if (!lenient || (kind !== MAP && kind !== SET)) return refuse(KINDS[kind]);
    }
    const depth = trail.length;
    if (depth >= MAX_DEPTH) {
      if (lenient) return grow('"[…]"');
      throw new Refusal('value', 'it is nested deeper than ' + MAX_DEPTH + ' levels', trail);
    }
    for (let i = 0; i < depth; i++) if (above[i] === object) return refuse('a cycle');
    above[depth] = object;
    if ((size += 2) > most + 1 && !lenient) throw new Refusal('size', 'it is too large', trail);
    if (kind === ARRAY) return writeArray(object);
    if (kind > ARRAY) return (kind === MAP ? 'Map ' : 'Set ') + writeArray(entriesOf(object, kind));
    if (symbolsOf(object).length > 0 && hasSymbols(object)) return refuse('a symbol as a name');
    return writeFields(object);
  };
  const write = (value, key, mayConvert) => {
    if (++written > last) throw new Refusal('size', 'it holds too many values', trail);
    switch (typeof value) {
      case 'string':
        return grow(stringify(lenient ? cut(value, most) : value));
      case 'number':
        if (value - value !== 0) return lenient ? grow('' + value) : refuse(value !== value ? 'NaN' : 'Infinity');
        // The digits of a large integer would be the shortest that tell it from its neighbours: the host reads integers exactly.
        if (value > EXACT || value < -EXACT) return grow(value < 1e21 && value > -1e21 ? toText(bigIntOf(value)) : '' + value);
        return grow('' + value);
      case 'boolean':
        return grow(value ? 'true' : 'false');
      case 'undefined':
        return lenient ? grow('undefined') : undefined;
      case 'object':
        return value === null ? grow('null') : writeObject(value, key, mayConvert);
      default:
        return lenient ? grow(shown(value)) : refuse(typeof value === 'bigint' ? 'a BigInt' : 'a ' + typeof value);
    }
  };
  // Boxed primitives count as what they box, as in JSON.stringify; the brand decides, not the prototype.
  const unbox = (object) => {
    for (let i = 0; i < 2; i++) {
      try {
        return apply(brands[i], object, []);
      } catch (_) {
        // another brand
      }
    }
    return apply(brands[2], object, []);
  };
  const entriesOf = (collection, kind) => {
    const list = [];
    const add = (value) => defineProperty(list, list.length, plain(value));
    if (kind === MAP) apply(mapForEach, collection, [(value, key) => add([key, value])]);
    else apply(setForEach, collection, [add]);
    return list;
  };
  // What has no JSON form, as a reader understands it.
  const shown = (value) => {
    switch (typeof value) {
      case 'undefined':
        return 'undefined';
      case 'bigint':
        return toText(value) + 'n';
      case 'symbol':
        return toText(value);
      default: {
        const { name } = value;
        // A tool has any name one asks for; as a text it is its own.
        return '[' + (typeof name === 'string' ? 'function' + (name === '' ? '' : ' ' + cut(name, 128)) : toText(value)) + ']';
      }
    }
  };

  // --- errors -----------------------------------------------------------------------------------------------------
  const failures = new WeakMap();
  class ToolCallError extends ErrorOf {
    constructor(message, fields) {
      super(message);
      this.name = 'ToolCallError';
      const names = isObject(fields) ? keys(fields) : [];
      for (let i = 0; i < names.length; i++) defineProperty(this, names[i], plain(fields[names[i]]));
    }
  }
  const ToolCallErrorPrototype = ToolCallError.prototype;
  const brief = (value) => {
    try {
      return typeof value === 'string' ? value : toText(toJson(value, 4096, Infinity, true));
    } catch (_) {
      return 'a value that cannot be shown';
    }
  };
  // Reading a field of what a program threw runs the program: whatever comes of it, there is an answer.
  const field = (error, name, most, otherwise) => {
    try {
      const value = error[name];
      return value === undefined ? otherwise : cut(typeof value === 'string' ? value : brief(value), most);
    } catch (_) {
      return otherwise;
    }
  };
  const isError = (value) => {
    try {
      return isObject(value) && (native.kind(value) === ERROR || apply(isInstance, ErrorOf, [value]));
    } catch (_) {
      return false;
    }
  };
  // The engine's own record: the program can write into `stack`, not into this.
  const traceOf = (thrown) => cut(toText((isObject(thrown) ? apply(stackOf, thrown, []) : undefined) ?? native.trace(thrown) ?? ''), 16384);
  const isDerived = (error) => {
    try {
      const prototype = getPrototypeOf(error);
      for (let i = 0; i < prototypes.length; i++) if (prototypes[i] === prototype) return false;
      return true;
    } catch (_) {
      return false;
    }
  };
  const named = (error) => {
    if (!isError(error)) return cut(brief(error), 512);
    const name = field(error, 'name', 128, 'Error');
    const message = field(error, 'message', 512, '');
    return name + (message === '' ? '' : ': ' + message);
  };
  // What stands behind an error: the errors of an AggregateError, and the chain of causes.
  const MOST_BEHIND = 4;
  const behind = (error) => {
    const list = [];
    const add = (text) => defineProperty(list, list.length, plain(text));
    try {
      const { errors } = error;
      if (native.kind(errors) === ARRAY) {
        for (let i = 0; i < errors.length && list.length < MOST_BEHIND; i++) add(named(errors[i]));
      }
      let at = error;
      while (list.length < MOST_BEHIND && isError(at) && at.cause !== undefined) add(named((at = at.cause)));
    } catch (_) {
      // as far as it could be read
    }
    return list;
  };
  const describe = (error) => {
    if (isRefusal(error)) {
      return { __proto__: null, kind: error.kind === 'size' ? 'output_limit' : 'not_serializable', name: 'TypeError',
        message: error.what, path: error.path };
    }
    const stack = traceOf(error);
    const call = isObject(error) ? apply(weakGet, failures, [error]) : undefined;
    if (call !== undefined) {
      return { __proto__: null, kind: 'tool', call, name: 'ToolCallError', message: field(error, 'message', 8192, ''), stack };
    }
    if (!isError(error)) {
      return { __proto__: null, kind: 'exception', name: 'Thrown', message: cut(brief(error), 8192), stack };
    }
    const kind = native.overflowed(error) ? 'stack' : 'exception';
    return { __proto__: null, kind, name: field(error, 'name', 128, 'Error'), stack, derived: isDerived(error),
      message: field(error, 'message', 8192, 'its message cannot be read'), behind: behind(error) };
  };
  // Written by hand: JSON.stringify would ask objects and lists for what a program can have put on their prototypes.
  const textsOf = (list) => {
    let text = '';
    for (let i = 0; i < list.length; i++) text += (i === 0 ? '' : ',') + stringify(list[i]);
    return '[' + text + ']';
  };
  const told = (error, parsing = false) => {
    const about = describe(error);
    if (parsing && about.kind === 'exception' && about.name === 'SyntaxError') about.kind = 'syntax';
    const names = keys(about);
    let text = '{';
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      text += (i === 0 ? '' : ',') + stringify(name) + ':' + (name === 'behind' ? textsOf(about[name]) : stringify(about[name]));
    }
    return text + '}';
  };
  const unhandled = new Map();
  const MOST_UNHANDLED = 1000;
  // Beyond so many only their number is kept.
  const alsoUnhandled = new WeakSet();
  let anyUnhandled = false;
  let unhandledCount = 0;

  // --- calls ------------------------------------------------------------------------------------------------------
  let calls = '';
  let issued = 0;
  let inputBytes = 0;
  let valueBytes = 0;
  // On the host each value takes this much and more, however short its text is.
  const VALUE_BYTES = 64;
  let sentValues = 0;
  let ending = null;
  const pending = { __proto__: null };
  const call = (source, tool, input) => {
    const id = ++issued;
    let body;
    const before = written;
    try {
      body = input === undefined ? '{}' : (toJson(input, inputBytes, inputBytes / VALUE_BYTES - sentValues) ?? '{}');
      sentValues += written - before;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      body = '!' + error.kind + error.path + ': ' + error.what;
    }
    const site = new ErrorOf('');
    const promise = new PromiseOf((resolve, reject) => {
      pending[id] = { __proto__: null, resolve, reject, site };
    });
    // Last, so that a stack that overflows above leaves no call that nobody hears of.
    calls += (calls === '' ? '' : '\x1f') + '[' + id + ',' + stringify(source) + ',' + stringify(tool) + ']\x1f' + body;
    return promise;
  };

  // --- tools ------------------------------------------------------------------------------------------------------
  const known = { __proto__: null };
  const slotOf = (source) => (source === undefined ? '' : '.' + source);
  const namesOf = (source) => {
    const slot = slotOf(source);
    if (slot in known) return known[slot];
    const text = native.names(source);
    if (text === undefined) return [];
    const list = parse(text);
    const seen = { __proto__: null };
    for (let i = 0; i < list.length; i++) seen[list[i]] = true;
    known[slot] = list;
    known['has' + slot] = seen;
    return list;
  };
  const has = (source, name) => {
    namesOf(source);
    return known['has' + slotOf(source)]?.[name] === true;
  };
  // `then` would make an awaited proxy hang, `toJSON` would make a printed one call a tool: neither is ever there.
  const hidden = (name) => typeof name !== 'string' || name === 'then' || name === 'toJSON';
  // A tool or source put into a text shows its own name; the engine would otherwise call tools named toString and valueOf.
  const { toPrimitive } = Symbol;
  const lookUp = (name, shown, found) => (name === toPrimitive ? () => shown : hidden(name) ? undefined : found(name));
  const fixed = {
    __proto__: null,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
    preventExtensions: () => false,
    getPrototypeOf: () => null,
  };
  const listed = (names) => {
    const list = [];
    for (let i = 0; i < names.length; i++) if (!hidden(names[i])) defineProperty(list, list.length, plain(names[i]));
    return list;
  };
  const madeSources = { __proto__: null };
  const madeTools = { __proto__: null };
  // The target of a tool's proxy carries where it leads; only the handler ever sees the target.
  const toolHandler = {
    ...fixed,
    __proto__: null,
    get: (target, name) => lookUp(name, 'tools.' + target.source + '.' + target.path,
      (next) => toolAt(target.source, target.path + '.' + next)),
    apply: (target, _self, args) => call(target.source, target.path, args.length > 0 ? args[0] : undefined),
    has: () => false,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
  };
  const toolAt = (source, path) => {
    const made = (madeTools[source] ??= { __proto__: null });
    if (made[path] !== undefined) return made[path];
    const target = () => {};
    deleteProperty(target, 'length');
    deleteProperty(target, 'name');
    defineProperty(target, 'source', { value: source, enumerable: false, configurable: true });
    defineProperty(target, 'path', { value: path, enumerable: false, configurable: true });
    return (made[path] = new ProxyOf(target, toolHandler));
  };
  const sourceAt = (source) => {
    if (madeSources[source] !== undefined) return madeSources[source];
    return (madeSources[source] = new ProxyOf({ __proto__: null }, {
      ...fixed,
      __proto__: null,
      get: (_, name) => lookUp(name, 'tools.' + source, (tool) => toolAt(source, tool)),
      has: (_, name) => !hidden(name) && has(source, name),
      ownKeys: () => listed(namesOf(source)),
      getOwnPropertyDescriptor: (_, name) =>
        hidden(name) || !has(source, name) ? undefined : plain(toolAt(source, name)),
    }));
  };
  const $call = (source, tool, input) => call(toText(source), toText(tool), input);
  const tools = new ProxyOf({ __proto__: null }, {
    ...fixed,
    __proto__: null,
    get: (_, name) => lookUp(name, 'tools', (source) => (source === '$call' ? $call : sourceAt(source))),
    has: (_, name) => !hidden(name) && has(undefined, name),
    ownKeys: () => listed(namesOf(undefined)),
    getOwnPropertyDescriptor: (_, name) =>
      hidden(name) || !has(undefined, name) ? undefined : plain(sourceAt(name)),
  });

  // --- console ----------------------------------------------------------------------------------------------------
  const LEVELS = ['log', 'info', 'warn', 'error', 'debug'];
  const MOST = 16384;
  const showError = (error) => {
    const stack = field(error, 'stack', MOST, '');
    return named(error) + (stack === '' ? '' : '\n' + (stack[stack.length - 1] === '\n' ? apply(slice, stack, [0, -1]) : stack));
  };
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return value === 0 && 1 / value < 0 ? '-0' : '' + value;
    try {
      if (value !== null && typeof value === 'object' && native.kind(value) === ERROR) return showError(value);
      return toJson(value, MOST, Infinity, true) ?? 'undefined';
    } catch (_) {
      return '[a value that cannot be shown]';
    }
  };
  const console = { __proto__: {} };
  for (let level = 0; level < LEVELS.length; level++) {
    const write = (...values) => {
      let text = '';
      for (let i = 0; i < values.length; i++) text += (i === 0 ? '' : ' ') + show(values[i]);
      if (text.length > MOST) {
        const half = MOST / 2;
        const left = text.length - MOST;
        text = apply(slice, text, [0, half]) + ' … ' + left + ' characters left out … ' + apply(slice, text, [text.length - half]);
      }
      native.log(level, text);
    };
    defineProperty(console, LEVELS[level], { value: write, writable: true, configurable: true, enumerable: true });
  }

  const visible = (name, value) =>
    defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: false });
  visible('tools', tools);
  visible('console', console);
  visible('ToolCallError', ToolCallError);

  // --- what the host calls ----------------------------------------------------------------------------------------
  const end = (text) => {
    ending ??= text;
    native.finish();
  };
  const threw = (error) => end({ __proto__: null, sign: 'T', text: told(error) });
  const returned = (value) => {
    try {
      end({ __proto__: null, sign: 'R', text: toJson(value, valueBytes) });
    } catch (error) {
      threw(error);
    }
  };
  const lateFailures = () => {
    let list = '';
    let left = 8;
    apply(mapForEach, unhandled, [(reason) => {
      if (left-- > 0) list += (list === '' ? '' : ',') + told(reason);
    }]);
    return '[' + unhandledCount + (list === '' ? '' : ',' + list) + ']';
  };
  return freeze({
    __proto__: null,
    start(program, given, trouble, mostValue, mostInput) {
      valueBytes = mostValue;
      inputBytes = mostInput;
      visible('context', parse(given));
      if (program === undefined) {
        return end({ __proto__: null, sign: 'T', text: told(trouble, true) });
      }
      const running = program();
      // Not asked of the program's own idea of a promise, which its first lines may have changed.
      defineProperty(running, 'constructor', plain(undefined));
      apply(then, running, [returned, threw]);
    },
    settle(id, ok, text) {
      const waiting = pending[id];
      if (waiting === undefined) return;
      delete pending[id];
      const value = parse(text);
      if (ok) return waiting.resolve(value);
      const { site } = waiting;
      // The error was made where the call was, so that its stack says so; now it becomes what it is.
      setPrototypeOf(site, ToolCallErrorPrototype);
      defineProperty(site, 'name', { value: 'ToolCallError', writable: true, configurable: true });
      apply(weakSet, failures, [site, id]);
      const names = keys(value);
      for (let i = 0; i < names.length; i++) defineProperty(site, names[i], plain(value[names[i]]));
      waiting.reject(site);
    },
    reject(promise, reason, handled) {
      if (!handled) {
        unhandledCount++;
        if (apply(mapSize, unhandled, []) < MOST_UNHANDLED) apply(mapSet, unhandled, [promise, reason]);
        else apply(knownAdd, alsoUnhandled, [promise]);
      } else if (apply(mapDelete, unhandled, [promise]) || apply(knownDelete, alsoUnhandled, [promise])) {
        unhandledCount--;
      }
      anyUnhandled = unhandledCount > 0;
    },
    take() {
      const fresh = calls;
      calls = '';
      if (ending === null) return 'C' + fresh + (anyUnhandled ? '\n' + lateFailures() : '');
      const { sign, text } = ending;
      return sign + fresh + '\n' + lateFailures() + (text === undefined ? '' : '\n' + text);
    },
  });
})
