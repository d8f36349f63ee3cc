import { categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { useSession } from '../session/session-context.ts'

export function CategoryName({ id }: { readonly id: bigint | undefined }) {
  return categoryName(useReadable(useSession().categories), id)
}
