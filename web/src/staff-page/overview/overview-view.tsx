import { useMemo } from 'react'
import { useStock } from '../session/session-context.ts'
import { StockFailure } from '../session/stock-failure.tsx'
import { LimitsCard } from './limits-card.tsx'
import { LowStockCard } from './low-stock-card.tsx'
import { RecentChanges } from './recent-changes.tsx'
import { StatusTiles } from './status-tiles.tsx'
import { StockLevelsCards } from './stock-levels-card.tsx'
import { summarise } from './stock-summary.ts'
import './overview.css'

/** How the store stands, at a glance. */
export function OverviewView() {
  const { rows, phase } = useStock()
  const summary = useMemo(() => summarise(rows), [rows])
  const isWaiting = phase !== 'ready' && rows.length === 0
  return (
    <div className="overview">
      <h1>Overview</h1>
      {isWaiting && phase === 'loading' && <Loading />}
      {isWaiting && phase === 'failed' && <StockFailure />}
      {!isWaiting && (
        <>
          <StatusTiles summary={summary} />
          <div className="overview__columns">
            <LowStockCard rows={rows} />
            <RecentChanges />
            <div className="overview__column overview__column--pictures">
              <LimitsCard />
              <StockLevelsCards summary={summary} />
            </div>
          </div>
        </>
      )}
    </div>
  )
}

function Loading() {
  return (
    <div role="status" aria-label="Loading the stock" className="tiles">
      {['All units', 'Available', 'Pending', 'Sold'].map((name) => (
        <div key={name} className="card tile">
          <span className="tile__name">{name}</span>
          <span className="tile__value skeleton" />
          <span className="tile__note skeleton" />
        </div>
      ))}
    </div>
  )
}
