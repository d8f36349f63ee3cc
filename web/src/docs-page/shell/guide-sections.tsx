import { useLayoutEffect, useRef } from 'react'
import type { Guide } from '../guides/guide.ts'
import { GUIDES } from '../guides/guide-list.ts'
import { GuidePage } from '../guides/guide-page.tsx'
import { PageProvider } from '../page-parts.tsx'
import { href } from '../page-route.ts'

/** A heading of a guide and all that stands below it; the first one is the guide's title. */
export interface GuideSection {
  readonly guide: Guide
  readonly title: string
  readonly address: string
  readonly text: string
}

/**
 * Draws every guide where nobody sees it and tells what is written in it, before the screen is painted. So the search
 * knows exactly what a reader would see, with what the guides take from the contract.
 */
export function GuideSectionReader({
  onRead,
}: {
  readonly onRead: (sections: readonly GuideSection[]) => void
}) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const drawn = [...(place.current?.children ?? [])]
    onRead(GUIDES.flatMap((guide, index) => sectionsIn(guide, drawn[index])))
  }, [onRead])
  return (
    <div ref={place} hidden>
      {GUIDES.map((guide) => (
        <PageProvider key={guide.id} value={{ page: 'guide', id: guide.id }}>
          <GuidePage guide={guide} />
        </PageProvider>
      ))}
    </div>
  )
}

function sectionsIn(guide: Guide, drawn: Element | undefined): readonly GuideSection[] {
  if (drawn === undefined) throw new Error(`the guide ${guide.id} was not drawn`)
  const sections: { title: string; address: string; texts: string[] }[] = []
  const walker = document.createTreeWalker(drawn, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node instanceof Text) sections.at(-1)?.texts.push(node.data)
    else if (node instanceof HTMLHeadingElement) {
      const address = node.tagName === 'H1' ? href({ page: 'guide', id: guide.id }) : `#${node.id}`
      sections.push({ title: node.textContent, address, texts: [] })
    }
  }
  return sections.map(({ texts, ...section }) => ({ guide, ...section, text: texts.join(' ') }))
}
