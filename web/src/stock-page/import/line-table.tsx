import { useState } from 'react'

export interface ShownLine {
  readonly line: number
  readonly name: string
  readonly what: string
}

const SHOWN = 100

/** Lines of a file with what becomes of them; the first hundred, and more when they are asked for. */
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
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, shown).map(({ line, name: pet, what }) => (
            <tr key={`${line} ${what}`}>
              <td className="table__number">{line.toLocaleString('en')}</td>
              <td>{pet}</td>
              <td>{what}</td>
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
