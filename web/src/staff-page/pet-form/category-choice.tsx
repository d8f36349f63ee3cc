import { byName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { useSession } from '../session/session-context.ts'
import './category-choice.css'

interface Props {
  readonly chosen: bigint | undefined
  readonly onChoose: (categoryId: bigint | undefined) => void
}

/** Filters by one category, or shows all. */
export function CategoryChoice({ chosen, onChoose }: Props) {
  const categories = useReadable(useSession().categories)
  return (
    <select
      className="select category-choice"
      aria-label="Category"
      value={chosen === undefined ? '' : String(chosen)}
      onChange={({ currentTarget: { value } }) => onChoose(value === '' ? undefined : BigInt(value))}
    >
      <option value="">All categories</option>
      {byName(categories).map(({ id, name }) => (
        <option key={String(id)} value={String(id)}>
          {name}
        </option>
      ))}
    </select>
  )
}
