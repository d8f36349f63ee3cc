/** Indents JSON for reading. Works on the text, never on parsed values, so that ids beyond 2^53 keep every digit. */
export function indentJson(text: string): string {
  let depth = 0
  const newLine = () => `\n${'  '.repeat(depth)}`
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+/g, (token) => {
    if (token === '{' || token === '[') {
      depth++
      return token + newLine()
    }
    if (token === '}' || token === ']') {
      depth--
      return newLine() + token
    }
    if (token === ',') return token + newLine()
    return token === ':' ? ': ' : token.trim()
  })
}
