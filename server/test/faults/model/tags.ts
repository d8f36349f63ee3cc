import type { TagChoice } from './steps.ts'

interface Issued {
  readonly tag: string
  readonly content: string
}

const FOREIGN = '"no-such-state"'

/** A condition of a request, and whether it holds for the current content. */
export interface Condition {
  readonly header?: string
  readonly holds: boolean
  readonly isMalformed?: true
}

/** The tags of all responses, by resource and content: equal for the same content, different otherwise. */
export class TagBook {
  readonly #issued = new Map<string, Issued[]>()

  /** Returns what is wrong with a tag, if anything. `form` is the encoding of the content. */
  record(resource: string, content: string, form: string, tag: string | null): string | undefined {
    if (tag === null) return 'there is no ETag'
    if (!/^"[^"]+"$/.test(tag)) return `the ETag ${tag} is not a strong one`
    const whole = `${form} ${content}`
    const issued = this.#of(resource)
    const [sameContent, sameTag] = [
      issued.find((one) => one.content === whole),
      issued.find((one) => one.tag === tag),
    ]
    if (sameContent !== undefined && sameContent.tag !== tag) {
      return `the ETag is ${tag}, and was ${sameContent.tag} for the same content`
    }
    if (sameTag !== undefined && sameTag.content !== whole) {
      return `the ETag ${tag} was that of another content: ${sameTag.content}`
    }
    if (sameContent === undefined) issued.push({ tag, content: whole })
    return undefined
  }

  /** Checks the tag of a 304: it must belong to this content, in any encoding. */
  check(resource: string, content: string, tag: string | null): string | undefined {
    const known = this.#of(resource).find((one) => one.tag === tag)
    if (tag === null) return 'there is no ETag'
    return known === undefined || known.content.endsWith(` ${content}`)
      ? undefined
      : `the ETag ${tag} is that of another content`
  }

  /** `content` is the current one; a weak tag counts for If-None-Match and not for If-Match. */
  condition(choice: TagChoice, resource: string, content: string, isWeakEqual: boolean): Condition {
    const issued = this.#of(resource)
    const current = issued.find((one) => one.content.endsWith(` ${content}`))?.tag
    const stale = issued.findLast((one) => !one.content.endsWith(` ${content}`))?.tag ?? FOREIGN
    switch (choice) {
      case 'none':
        return { holds: !isWeakEqual }
      case 'any':
        return { header: '*', holds: true }
      case 'malformed':
        return isWeakEqual ? { holds: false } : { header: 'bare', holds: false, isMalformed: true }
      case 'current':
        return current === undefined ? { holds: !isWeakEqual } : { header: current, holds: true }
      case 'weak':
        return current === undefined
          ? { holds: !isWeakEqual }
          : { header: `W/${current}`, holds: isWeakEqual }
      case 'several':
        return { header: `${stale}, ${current ?? FOREIGN}`, holds: current !== undefined }
      case 'stale':
        return { header: stale, holds: false }
      case 'foreign':
        return { header: FOREIGN, holds: false }
    }
  }

  #of(resource: string): Issued[] {
    let issued = this.#issued.get(resource)
    if (issued === undefined) {
      issued = []
      this.#issued.set(resource, issued)
    }
    return issued
  }
}
