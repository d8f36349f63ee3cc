import { createContext, useContext, useEffect, useState } from 'preact/compat'
import { Contract } from './contract.ts'
import type { OpenApiDocument } from './openapi-document.ts'

export const ContractContext = createContext<Contract | undefined>(undefined)

type ContractState =
  | { readonly phase: 'loading' }
  | { readonly phase: 'ready'; readonly contract: Contract }
  | { readonly phase: 'failed'; readonly reason: string }

/** Loads the contract from the service that serves this page. `reload` tries again after a failure. */
export function useContractState(): ContractState & { readonly reload: () => void } {
  const [state, setState] = useState<ContractState>({ phase: 'loading' })
  const [attempt, setAttempt] = useState(0)

  useEffect(() => {
    let isCurrent = true
    setState({ phase: 'loading' })
    loadContract().then(
      (contract) => isCurrent && setState({ phase: 'ready', contract }),
      (error: unknown) => isCurrent && setState({ phase: 'failed', reason: reasonOf(error) }),
    )
    return () => {
      isCurrent = false
    }
  }, [attempt])
  return { ...state, reload: () => setAttempt((count) => count + 1) }
}

async function loadContract(): Promise<Contract> {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`the service returned ${response.status} for /openapi.json`)
  return new Contract((await response.json()) as OpenApiDocument)
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'the service cannot be reached'
  return error instanceof Error ? error.message : String(error)
}

export function useContract(): Contract {
  const contract = useContext(ContractContext)
  if (contract === undefined) throw new Error('useContract needs a ContractContext around it')
  return contract
}

/** The address of this service, so that copied samples work as they are. */
export function baseUrlOf(contract: Contract): string {
  return `${location.origin}/${contract.versionSegment}`
}
