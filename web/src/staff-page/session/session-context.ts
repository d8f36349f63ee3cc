import type { Permission } from '@petstore/client'
import { createContext, useContext, useEffect, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { RequestState } from '../data/request-watch.ts'
import type { StockSnapshot } from '../data/stock/stock-model.ts'
import type { Session } from './session.ts'

export const SessionContext = createContext<Session | undefined>(undefined)

/** The current session. Throws outside of `SessionContext`. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('useSession needs a SessionContext around the component')
  return session
}

export function useStock(): StockSnapshot {
  return useReadable(useSession().stock)
}

/** The row of one pet. A pet of a large store that the page does not hold is loaded first. */
export function useStockRow(petId: bigint) {
  const { stock, pets } = useSession()
  const { phase, hasNames, isComplete } = useStock()
  const row = stock.find(petId)
  const [isLookedUp, setLookedUp] = useState(false)
  const isNeeded = hasNames && !isComplete && row === undefined && !isLookedUp
  useEffect(() => {
    if (isNeeded) void pets.load(petId).catch(() => setLookedUp(true))
  }, [isNeeded, pets, petId])
  return { row, isLoading: row === undefined && (phase === 'loading' || !hasNames || isNeeded) }
}

/** Whether the key has this permission; true until the service has reported its permissions. */
export function useMayChange(what: Permission | undefined): boolean {
  const owner = useReadable(useSession().owner)
  return what === undefined || owner?.permissions.includes(what) !== false
}

export function useRequestState(): RequestState {
  return useReadable(useSession().requests)
}
