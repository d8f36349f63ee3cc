import { createContext, useCallback, useContext, useEffect, useState } from 'preact/compat'
import { Contract } from './contract.ts'

export const ContractContext = createContext<Contract | undefined>(undefined)

type ContractState =
  | { readonly phase: 'loading' }
  | { readonly phase: 'ready'; readonly contract: Contract }
  | { readonly phase: 'failed'; readonly reason: string }

/** Loads the contract from the service that serves this page. `reload` tries again after a failure. */
export function useContractState() {
  const [state, setState] = useState<ContractState>({ phase: 'loading' })
  const reload = useCallback(async () => {
    setState({ phase: 'loading' })
    setState(await loadContract())
  }, [])
  useEffect(() => void reload(), [reload])
  return { ...state, reload }
}

async function loadContract(): Promise<ContractState> {
  try {
    const response = await fetch('/openapi.json')
    if (response.ok) return { phase: 'ready', contract: new Contract(await response.json()) }
    return { phase: 'failed', reason: `the service returned ${response.status} for /openapi.json` }
  } catch (error) {
    const isUnreachable = error instanceof TypeError
    return { phase: 'failed', reason: isUnreachable ? 'the service cannot be reached' : String(error) }
  }
}

export function useContract(): Contract {
  const contract = useContext(ContractContext)
  if (contract === undefined) throw new Error('useContract needs a ContractContext around it')
  return contract
}

export const BASE_PATH = '/v1'

/** The address of this service, so that copied samples work as they are. */
export function baseUrl(): string {
  return location.origin + BASE_PATH
}
