import type { ReactNode } from 'preact/compat'
import { Button } from './button.tsx'
import { RetryNotice } from './notices.tsx'

interface Props {
  /** Names the list for screen readers, such as `Orders`. */
  readonly label: string
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly failure: string | undefined
  readonly isEmpty: boolean
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly onRetry: () => void
  readonly onLoadMore: () => void
  /** The rows, each an `<li>`. */
  readonly children: ReactNode
  readonly empty: ReactNode
}

/** A card with a list that is loaded page by page: skeleton, failure, rows, empty state, "Show more". */
export function ListFrame(props: Props) {
  const { label, phase, failure, isEmpty, hasMore, isLoadingMore, onRetry, onLoadMore, children, empty } =
    props
  return (
    <div className="card list">
      {phase === 'loading' && isEmpty && (
        <div className="list__loading" role="status" aria-label={`Loading ${label.toLowerCase()}`}>
          <span className="skeleton" />
          <span className="skeleton" />
          <span className="skeleton" />
        </div>
      )}
      <RetryNotice tone="negative" onRetry={onRetry}>
        {failure}
      </RetryNotice>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers */}
      <ul role="list" aria-label={label}>
        {children}
      </ul>
      {phase === 'ready' && isEmpty && empty}
      {hasMore && (
        <Button className="list__more" isBusy={isLoadingMore} onClick={onLoadMore}>
          Show more
        </Button>
      )}
    </div>
  )
}

/** The empty state of a list: a title, a sentence, and the next step. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty__title">{title}</p>
      {children}
    </div>
  )
}
