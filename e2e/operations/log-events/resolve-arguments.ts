import ts from 'typescript';

/** The texts that a message may have. What varies in a text stands in braces. */
export function resolveMessages(node: ts.Expression, source: ts.SourceFile): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(
      ({ expression, literal }) => `{${nameOf(expression)}}${literal.text}`,
    );
    return [node.head.text + spans.join('')];
  }
  if (ts.isConditionalExpression(node)) {
    return [node.whenTrue, node.whenFalse].flatMap((one) => resolveMessages(one, source));
  }
  const values = valuesOf(node, source);
  if (values.length > 0) return values.flatMap((one) => resolveMessages(one, source));
  throw unclear('message', node, source);
}

/** The names of the fields that an argument has. */
export function resolveFields(node: ts.Expression, source: ts.SourceFile): string[] {
  if (ts.isObjectLiteralExpression(node)) {
    return node.properties.flatMap((property) =>
      ts.isSpreadAssignment(property)
        ? resolveFields(property.expression, source)
        : [property.name.getText()],
    );
  }
  if (ts.isParenthesizedExpression(node)) return resolveFields(node.expression, source);
  if (ts.isConditionalExpression(node)) {
    return [node.whenTrue, node.whenFalse].flatMap((one) => resolveFields(one, source));
  }
  // `condition && { … }`
  if (ts.isBinaryExpression(node)) return resolveFields(node.right, source);
  const values = valuesOf(node, source);
  if (values.length > 0) return values.flatMap((one) => resolveFields(one, source));
  throw unclear('fields', node, source);
}

/** The last name of an expression, for a reader: `name` for `this.options.name`. */
function nameOf(node: ts.Expression): string {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  return ts.isIdentifier(node) ? node.text : 'reason';
}

/** The expressions that a variable, a property or a function of this file may have as its value. */
function valuesOf(node: ts.Expression, source: ts.SourceFile): ts.Expression[] {
  if (ts.isCallExpression(node)) return returnsOf(nameOf(node.expression), source);
  const name = nameOf(node);
  const values: ts.Expression[] = [];
  const visit = (child: ts.Node): void => {
    const found =
      (ts.isIdentifier(node) && ts.isVariableDeclaration(child)) ||
      (ts.isPropertyAccessExpression(node) && ts.isPropertyAssignment(child));
    if (found && child.name.getText() === name && child.initializer !== undefined) {
      values.push(child.initializer);
    }
    ts.forEachChild(child, visit);
  };
  visit(source);
  return values;
}

function returnsOf(name: string, source: ts.SourceFile): ts.Expression[] {
  const values: ts.Expression[] = [];
  const visit = (child: ts.Node, inside: boolean): void => {
    const begins =
      (ts.isFunctionDeclaration(child) || ts.isMethodDeclaration(child)) &&
      child.name?.getText() === name;
    const within = inside || begins;
    if (within && ts.isReturnStatement(child) && child.expression !== undefined) {
      values.push(child.expression);
    }
    ts.forEachChild(child, (next) => visit(next, within));
  };
  visit(source, false);
  return values;
}

function unclear(part: string, node: ts.Node, source: ts.SourceFile): Error {
  const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return new Error(
    `${source.fileName}:${line}: the ${part} of a log call must be written out in this file: ${node.getText()}`,
  );
}
