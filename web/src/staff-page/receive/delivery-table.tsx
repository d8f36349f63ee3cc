import { useSession, useStock } from '../session/session-context.ts'
import { href } from '../ui/navigation.ts'
import { PetTableHead } from '../ui/pet-table-head.tsx'
import type { DeliveryLine } from './kept-delivery.ts'

/** So many times what is there, and more than so many: a slip, more often than not. */
const UNUSUAL = { times: 100, pieces: 1_000 } as const

/** All of a delivery, with what the stock will be. */
export function DeliveryTable({ lines }: { readonly lines: readonly DeliveryLine[] }) {
  const { stock } = useSession()
  useStock()
  return (
    <table className="table receive__table">
      <PetTableHead figures={['In stock', 'Comes', 'Then']} />
      <tbody>
        {lines.map(({ petId, amount }) => {
          const row = stock.find(petId)
          const there = row?.quantity ?? 0
          const isUnusual = amount > UNUSUAL.pieces && amount > UNUSUAL.times * there
          return (
            <tr key={String(petId)}>
              <td className="receive__cell">
                <a href={href({ view: 'pet', petId })}>{row?.name ?? `Pet ${petId}`}</a>{' '}
                {isUnusual && <span className="badge badge--caution">Unusually many</span>}
              </td>
              <td className="table__number">{there.toLocaleString('en')}</td>
              <td className="table__number">+{amount.toLocaleString('en')}</td>
              <td className="table__number">
                <strong>{(there + amount).toLocaleString('en')}</strong>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
