import { useMemo } from 'preact/compat'
import { useSearchedList } from '../live-list.ts'
import { type PetList, type PetListSnapshot, type PetListSource, petListSource } from './pet-list.ts'

/** A list for as long as the component is mounted. `source` must stay the same object for the same search. */
export function usePetList(source: PetListSource): { list: PetList; found: PetListSnapshot } {
  const list = useSearchedList(useMemo(() => petListSource(source), [source]))
  return { list, found: list.get() }
}
