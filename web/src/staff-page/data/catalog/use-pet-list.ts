import { useEffect, useState } from 'react'
import { useReadable } from '../observable.ts'
import { PetList, type PetListSnapshot, type PetListSource } from './pet-list.ts'

/** A list for as long as the component is there. `source` must stay the same object for the same search. */
export function usePetList(source: PetListSource): { list: PetList; found: PetListSnapshot } {
  const [list] = useState(() => new PetList(source))
  useEffect(() => {
    list.follow(source)
    return () => list.stop()
  }, [list, source])
  return { list, found: useReadable(list) }
}
