import Type from 'typebox'
import { PET, PET_UPDATE } from '../catalog/pet.ts'
import { ListOf, OneOf, type RecordOf } from '../values/field.ts'
import { HISTORY_ENTRY, type HistoryFilter } from './history.ts'
import { PET_CHANGES } from './stock-event.ts'

// The cast is safe: the keys of `PET_UPDATE` are the fields that an edit can change.
export const EDITABLE_FIELDS = Object.keys(PET_UPDATE) as (keyof typeof PET_UPDATE)[]

const { petId, id, at, keyId, keyName } = HISTORY_ENTRY

/** A pet was created or removed, or one of its fields other than the quantity changed. */
export const PET_EDIT = {
  petId: { ...petId, description: 'The pet that was edited.' },
  id,
  change: OneOf([...PET_CHANGES, 'removed'], { description: 'What happened to the pet.' }),
  name: Type.Optional({
    ...PET.name,
    description:
      'Name of the pet after the change, or before its removal; absent if the log does not have it.',
  }),
  at,
  keyId,
  keyName,
  pet: Type.Optional(Type.Object(PET)),
  fields: Type.Optional(
    ListOf(
      EDITABLE_FIELDS,
      { title: 'EditedField', description: 'A field of a pet.' },
      {
        minItems: 0,
        description:
          'The fields of `pet` that this edit changed. Present only if `change` is `changed` and the log still has the previous state of the pet.',
      },
    ),
  ),
}
export type PetEdit = RecordOf<typeof PET_EDIT>

export type EditFilter = Pick<HistoryFilter, 'petId' | 'who' | 'since' | 'until'>
