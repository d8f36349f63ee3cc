/**
 * Far more than any good row needs. A longer line is cut, so that a file without line ends (or a quote that is
 * never closed) does not end up in memory as a whole.
 */
export const LONGEST_LINE = 8_192

/** Cuts text into lines as it arrives. A line that is longer than LONGEST_LINE is one character longer, not more. */
export class LineSplitter {
  #rest = ''

  /** The lines that `text` completes, without their "\n". */
  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n')
    this.#rest = cut(lines.pop() ?? '')
    for (const [index, line] of lines.entries()) if (line.length > LONGEST_LINE) lines[index] = cut(line)
    return lines
  }

  /** The last line, where it has no line end. */
  end(): string[] {
    const rest = this.#rest
    this.#rest = ''
    return rest === '' ? [] : [rest]
  }
}

function cut(line: string): string {
  return line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE + 1) : line
}
