import type { Pet } from '@petstore/client'
import type { ComponentType } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { Observable, useReadable } from '../data/observable.ts'
import { askForBarcode } from '../data/stock/stock-search.ts'
import { showProblem, type Toast } from '../data/toasts.ts'
import type { Session } from '../session/session.ts'
import { useSession } from '../session/session-context.ts'
import { goTo } from '../ui/navigation.ts'
import { useScannerKeys } from '../ui/scanner.ts'
import { soundAlarm } from './alarm.ts'

interface NewPetForm {
  readonly barcode: string
  readonly Dialog: ComponentType<NewPetDialogProps>
  /** Only the first call counts. */
  readonly finish: (petId: bigint | undefined) => void
}

interface NewPetDialogProps {
  readonly barcode: string
  readonly onSaved: (pet: Pet) => void
  readonly onClose: () => void
}

const openForm = new Observable<NewPetForm | undefined>(undefined)

/** Reads the scanner on every view. Without another handler a scan opens the page of the pet. */
export function ScanLayer() {
  const session = useSession()
  const form = useReadable(openForm)
  useScannerKeys((barcode) => {
    void findScanned(session, barcode, (petId) => goTo({ view: 'pet', petId }))
  })
  if (form === undefined) return null
  const { Dialog, barcode, finish } = form
  const close = () => {
    openForm.set(undefined)
    finish(undefined)
  }
  return <Dialog key={barcode} barcode={barcode} onSaved={({ id }) => finish(id)} onClose={close} />
}

type ReportProblem = (text: string, action?: Toast['action']) => void

/**
 * Calls `onFound` with the pet that has the barcode: at once if the page knows it, otherwise after asking the service.
 * If no pet has it, an alarm sounds, and `report` gets the reason and an offer to add one; that pet counts as found.
 */
export async function findScanned(
  session: Session,
  barcode: string,
  onFound: (petId: bigint) => void,
  report: ReportProblem = (text, action) => showProblem('scan', text, action),
): Promise<void> {
  const { saving, stock, owner } = session
  const known = stock.barcodes.find(barcode)
  if (known !== undefined) return onFound(known)
  const { isComplete, connection } = stock.get()
  try {
    const canAsk = !isComplete || connection !== 'lost'
    const petId = canAsk ? await askForBarcode(saving, barcode) : undefined
    if (petId !== undefined) return onFound(petId)
  } catch (error) {
    if (saving.signal.aborted) return
    soundAlarm()
    report(`${barcode} was not looked up. ${failureWords(error)}`)
    return
  }
  const add = async () => {
    const petId = await addPetWithBarcode(barcode)
    if (petId !== undefined) onFound(petId)
  }
  const mayAdd = owner.get()?.permissions.includes('pets') !== false
  const action = { label: 'Add a pet with this barcode', run: () => void add() }
  soundAlarm()
  report(`No pet has the barcode ${barcode}.`, mayAdd ? action : undefined)
}

/** Opens the form for a new pet. Resolves with its id, or with `undefined` if none was added. */
async function addPetWithBarcode(barcode: string): Promise<bigint | undefined> {
  try {
    const { PetDialog } = await import('../pet-form/pet-dialog.tsx')
    return await new Promise((finish) => openForm.set({ barcode, Dialog: PetDialog, finish }))
  } catch {
    showProblem('scan', 'The form could not be loaded. Check the connection and try again.')
    return undefined
  }
}
