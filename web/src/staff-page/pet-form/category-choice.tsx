import { byName, type CategoryList } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { useSession } from '../session/session-context.ts'
import './category-choice.css'

interface Props {
  readonly chosen: bigint | undefined
  readonly onChoose: (categoryId: bigint | undefined) => void
}

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
      {categoryOptions(categories).map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

export function categoryOptions(categories: CategoryList) {
  return byName(categories).map(({ id, name }) => ({ value: String(id), label: name }))
}
