import { Button } from './button.tsx'

interface Props {
  /** Names the list for screen readers. */
  readonly label: string
  /** The first is 0. */
  readonly page: number
  readonly pageSize: number
  /** How many rows are loaded. */
  readonly total: number
  /** Whether there are more rows than those. */
  readonly hasMore?: boolean
  readonly onTurn: (page: number) => void
}

/** Turns the pages of a table. Nothing is shown if there is only one. */
export function PageNav({ label, page, pageSize, total, hasMore = false, onTurn }: Props) {
  if (total <= pageSize && !hasMore) return null
  const first = page * pageSize + 1
  const last = Math.min(total, first + pageSize - 1)
  return (
    <nav className="cluster page-nav" aria-label={label}>
      <Button isDisabled={page === 0} onClick={() => onTurn(page - 1)}>
        Back
      </Button>
      <span className="muted number" role="status">
        {first.toLocaleString('en')} to {last.toLocaleString('en')} of{' '}
        {hasMore ? 'many' : total.toLocaleString('en')}
      </span>
      <Button isDisabled={last === total && !hasMore} onClick={() => onTurn(page + 1)}>
        Next
      </Button>
    </nav>
  )
}
