/**
 * Makes the mutants of a source: each changes one place. TypeScript parses AssemblyScript too, which has the same
 * grammar. Only the types have another meaning.
 */
import ts from "typescript";

const K = ts.SyntaxKind;

/** Replacements of an operator between two values. */
const BINARY = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&": ["|"],
  "|": ["&"],
  "^": ["|"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+=": ["-="],
  "-=": ["+="],
  "*=": ["/="],
  "/=": ["*="],
  "|=": ["&="],
  "&=": ["|="],
};

/** Replacements of a function's or method's name in calls. */
const CALLS = {
  min: ["max"],
  max: ["min"],
  pmin: ["pmax"],
  pmax: ["pmin"],
  min_s: ["max_s"],
  max_s: ["min_s"],
  min_u: ["max_u"],
  max_u: ["min_u"],
  lt: ["le", "ge"],
  le: ["lt", "gt"],
  gt: ["ge", "le"],
  ge: ["gt", "lt"],
  lt_s: ["le_s"],
  le_s: ["lt_s"],
  gt_s: ["ge_s"],
  ge_s: ["gt_s"],
  lt_u: ["le_u"],
  gt_u: ["ge_u"],
  eq: ["ne"],
  ne: ["eq"],
  add: ["sub"],
  sub: ["add"],
  mul: ["add"],
  div: ["mul"],
  and: ["or"],
  or: ["and"],
  andnot: ["and"],
  any_true: ["all_true"],
  all_true: ["any_true"],
  shl: ["shr_s"],
  shr_s: ["shr_u"],
  shr_u: ["shr_s"],
  floor: ["ceil"],
  ceil: ["floor"],
  trunc: ["ceil"],
  some: ["every"],
  every: ["some"],
};

/** Returns the mutants of a source: the place in the text, the new text, and the line. */
export function mutantsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (start, end, to) => {
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, start, end, from: text.slice(start, end), to });
  };
  const visit = (node) => {
    if (isSkipped(node)) return;
    mutateNode(node, source, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** True for nodes without mutants: imports, types, decorators, interfaces, and the messages of errors. */
function isSkipped(node) {
  return (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isTypeNode(node) ||
    ts.isDecorator(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    // Errors with their messages.
    (ts.isCallExpression(node) && /^(refuse|static_assert)$/.test(node.expression.getText())) ||
    ts.isThrowStatement(node)
  );
}

function mutateNode(node, source, add) {
  const replace = (n, to) => add(n.getStart(source), n.getEnd(), to);
  if (ts.isBinaryExpression(node))
    for (const to of BINARY[node.operatorToken.getText()] ?? []) replace(node.operatorToken, to);
  if (ts.isNumericLiteral(node) && !/[xb]/i.test(node.text)) mutateNumber(node, replace);
  if (ts.isCallExpression(node)) {
    const { expression: callee } = node;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    // In AssemblyScript, a generic call `add<f32>(a, b)` has the same node.
    for (const to of Object.hasOwn(CALLS, name.text ?? "") ? CALLS[name.text] : []) replace(name, to);
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken)
    replace(node, node.operand.getText());
  if (
    ts.isPrefixUnaryExpression(node) &&
    node.operator === K.MinusToken &&
    !ts.isNumericLiteral(node.operand)
  )
    replace(node, node.operand.getText());
  if (ts.isPostfixUnaryExpression(node) && node.operator === K.PlusPlusToken)
    replace(node, `${node.operand.getText()}--`);
  if (ts.isIfStatement(node)) for (const to of ["true", "false"]) replace(node.expression, to);
  if (ts.isConditionalExpression(node)) for (const to of ["true", "false"]) replace(node.condition, to);
  if (ts.isWhileStatement(node)) replace(node.expression, "false");
  if (ts.isForStatement(node) && node.condition) replace(node.condition, "false");
  if (
    ts.isExpressionStatement(node) ||
    ts.isBreakOrContinueStatement(node) ||
    (ts.isReturnStatement(node) && !node.expression)
  )
    replace(node, ";");
  if (node.kind === K.TrueKeyword) replace(node, "false");
  if (node.kind === K.FalseKeyword) replace(node, "true");
}

/**
 * Replaces an integer by both neighbours, but 0 only by 1: an index of -1 reads nothing. Scales a fraction by 1.01 and
 * 0.99.
 */
function mutateNumber(node, replace) {
  const value = Number(node.text);
  const isFloat = /[.e]/i.test(node.getText());
  const write = (n) => (isFloat && Number.isInteger(n) ? n.toFixed(1) : String(n));
  const sign = ts.isPrefixUnaryExpression(node.parent) && node.parent.operator === K.MinusToken ? -1 : 1;
  if (Math.abs(value) > 2 ** 31) return;
  if (isFloat && !Number.isInteger(value)) {
    replace(node, write(value * 1.01));
    replace(node, write(value * 0.99));
    return;
  }
  replace(node, write(value + 1));
  if (sign * value !== 0) replace(node, write(value - 1));
}
