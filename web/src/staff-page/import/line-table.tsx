import { useState } from 'react'

export interface ShownLine {
  readonly line: number
  readonly name: string
  readonly text: string
}

const SHOWN = 100

/** Lines of a file, each with a text about it. Shows 100, and more on request. */
export function LineTable({ name, lines }: { readonly name: string; readonly lines: readonly ShownLine[] }) {
  const [shown, setShown] = useState(SHOWN)
  if (lines.length === 0) return <p className="muted">None.</p>
  return (
    <>
      <table className="table line-table" aria-label={name}>
        <thead>
          <tr>
            <th scope="col" className="table__number">
              Line
            </th>
            <th scope="col">Pet</th>
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, shown).map(({ line, name: pet, text }) => (
            <tr key={`${line} ${text}`}>
              <td className="table__number">{line.toLocaleString('en')}</td>
              <td>{pet}</td>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + SHOWN)}>
          Show more of {lines.length.toLocaleString('en')}
        </button>
      )}
    </>
  )
}
