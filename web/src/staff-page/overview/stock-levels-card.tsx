import { BarList } from '../ui/charts/bar-list.tsx'
import { href } from '../ui/navigation.ts'
import type { StockSummary } from './stock-summary.ts'

/** Where most of the stock is, and how it is spread: two pictures that a list of figures does not give. */
export function StockLevelsCards({ summary }: { readonly summary: StockSummary }) {
  const { largest, bands } = summary
  return (
    <>
      <section className="card" aria-labelledby="largest-title">
        <div className="card__header">
          <h2 id="largest-title">Largest stock</h2>
        </div>
        <div className="card__body">
          {largest.length === 0 ? (
            <p className="muted">Nothing is in stock.</p>
          ) : (
            <BarList
              name="Largest stock"
              unit="units"
              bars={largest.map(({ petId, name, quantity }) => ({
                key: String(petId),
                label: name ?? `Pet ${petId}`,
                value: quantity,
                href: href({ view: 'pet', petId }),
              }))}
            />
          )}
        </div>
      </section>
      <section className="card" aria-labelledby="bands-title">
        <div className="card__header">
          <h2 id="bands-title">Pets by units in stock</h2>
        </div>
        <div className="card__body">
          <BarList
            name="Pets by units in stock"
            unit="pets"
            bars={bands.map(({ label, pets }) => ({ key: label, label, value: pets }))}
          />
        </div>
      </section>
    </>
  )
}
