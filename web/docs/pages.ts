import { codeBlock } from './code.ts'
import { type Contract, readContract } from './contract.ts'
import { guideParts, parseGuide, renderGuide } from './guides.ts'
import { type Html, html } from './html.ts'
import { methodBadge, operationSection, recordSections, stabilityBadge } from './reference.ts'
import { KEY_PLACEHOLDER, SAMPLE_BASE_URL } from './samples.ts'
import { heading, RECORDS_PATH, recordAddress, Site, table } from './site.ts'

interface DocsSources {
  /** openapi.json. */
  readonly document: unknown
  /** The Markdown of each guide, by id. */
  readonly guides: ReadonlyMap<string, string>
  /** SVG, by file name. */
  readonly drawings: ReadonlyMap<string, string>
}

/** Addresses of the files that every page loads. */
interface PageAssets {
  readonly script: string
  readonly style: string
  readonly icon: string
  /** Links to the icon and the manifest. */
  readonly links: Html
}

interface Page {
  readonly path: string
  readonly title: string
  readonly summary: string
  readonly main: Html
  /** Links in the navigation below the page. */
  readonly parts?: Html
}

/** The API docs: the start page, a page for each guide and each resource. */
export function docsPages({ document, guides, drawings }: DocsSources, assets: PageAssets) {
  const contract = readContract(document)
  const parsed = [...guides].map(([id, text]) => parseGuide(id, text, contract))
  parsed.sort((one, other) => one.order - other.order)
  const site = new Site(contract, parsed.flatMap(guideParts))
  const guidePages = parsed.map((guide) => ({
    path: `/docs/guides/${guide.id}`,
    title: guide.title,
    summary: guide.summary,
    main: renderGuide(site, guide, drawings),
  }))
  const resourcePages = [...contract.document.tags.map((tag) => resourcePage(site, tag)), recordsPage(site)]
  const groups = [[startPage(site, guidePages)], guidePages, resourcePages]
  return groups.flat().map((page) => ({ path: page.path, html: frame(page, groups, assets).text }))
}

type Tag = Contract['document']['tags'][number]

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function operationsOf({ contract }: Site, tag: string) {
  return contract.operations.filter((operation) => operation.tag === tag)
}

function resourcePage(site: Site, { name, description }: Tag): Page {
  const operations = operationsOf(site, name)
  const links = operations.map(
    ({ operationId, summary, method }) =>
      html`<li><a class="topbar__link side__link" href="#${operationId}">${summary} ${methodBadge(method)}</a></li>`,
  )
  return {
    path: `/docs/${name}`,
    title: capitalized(name),
    summary: description,
    main: html`<article class="prose reference"><h1>${capitalized(name)}</h1><p class="lead">${description}</p>
${operations.map((operation) => operationSection(site, operation))}</article>`,
    parts: html`<ul>${links}</ul>`,
  }
}

function recordsPage(site: Site): Page {
  const summary = 'The objects that requests and responses have, and the headers of responses'
  const main = html`<article class="prose reference"><h1>Records</h1><p class="lead">${summary}.</p>${recordSections(site)}</article>`
  return { path: RECORDS_PATH, title: 'Records', summary, main }
}

function startPage(site: Site, guides: readonly Page[]): Page {
  const { info, tags, components } = site.contract.document
  const request = `curl '${SAMPLE_BASE_URL}/inventory' \\\n  -H 'Authorization: Bearer ${KEY_PLACEHOLDER}'`
  const records = Object.keys(components.schemas).map(
    (name) => html`<a href="${recordAddress(name)}">${name}</a> `,
  )
  const guideRows = guides.map(({ path, title, summary }) => ({
    cells: [html`<a href="${path}">${title}</a>`, summary],
  }))
  return {
    path: '/docs',
    title: 'Start here',
    summary: `${info.title}: the reference, guides and samples of its HTTP API`,
    main: html`<article class="prose"><p class="muted">API version ${info.version}</p><h1>${info.title}</h1>
<p class="lead">${site.inline(info.description)}</p>
${heading('first-request', 'The first request')}
<p>The operator of the service creates your key with <code>petstore keys create</code>. A demo store shows its keys when it starts. Send the key with every request, or open <em>Try it</em> at any operation:</p>
${codeBlock('List the stock', 'shell', request)}
<p>The contract is <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1), for generators and other tools. Programs find it, and these pages, in <a href="/.well-known/api-catalog">/.well-known/api-catalog</a> (RFC 9727).</p>
${heading('guides', 'Guides')}
${table(['Guide', 'What it explains'], guideRows)}
${heading('operations', 'Operations')}
${tags.map((tag) => resourceIndex(site, tag))}
<h3><a href="${RECORDS_PATH}">Records</a></h3><p class="cluster">${records}</p></article>`,
  }
}

/** Every operation of a resource, with a link to it. */
function resourceIndex(site: Site, { name, description }: Tag): Html {
  const rows = operationsOf(site, name).map((operation) => ({
    cells: [
      methodBadge(operation.method),
      html`<a href="${site.operationAddress(operation)}">${operation.summary}</a>`,
      html`<code>${operation.path}</code>`,
      stabilityBadge(operation),
    ],
  }))
  return html`<h3><a href="/docs/${name}">${capitalized(name)}</a></h3><p class="muted">${description}</p>
${table(['Method', 'Operation', 'Path', 'Stability'], rows)}`
}

function frame(
  page: Page,
  groups: readonly (readonly Page[])[],
  { script, style, icon, links }: PageAssets,
): Html {
  const linkTo = ({ path, title }: Page) => {
    const isCurrent = path === page.path
    const current = isCurrent && html` aria-current="page"`
    return html`<li><a class="topbar__link side__link" href="${path}"${current}>${title}</a>${isCurrent && page.parts}</li>`
  }
  const [starts, guides, resources] = groups.map((pages) => pages.map(linkTo))
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="description" content="${page.summary}"><title>${groups[1]?.includes(page) && 'Guide: '}${page.title} · Petstore Inventory API</title>
<link rel="stylesheet" href="${style}"><script src="${script}"></script>${links}</head>
<body><a class="skip-link" href="#main">Skip to the content</a>
<header class="topbar docs-topbar"><button type="button" class="button button--quiet" popovertarget="side">Menu</button>
<a class="topbar__brand" href="/" aria-label="Petstore"><img src="${icon}" width="24" height="24" alt=""><span>Petstore</span></a>
<nav class="topbar__nav" aria-label="Main"><a class="topbar__link" href="/#/stock">Stock</a><a class="topbar__link" href="/docs" aria-current="true">Docs</a></nav>
<div class="topbar__end"><button type="button" class="button button--quiet" name="theme">Theme</button></div></header>
<div class="docs-layout"><nav id="side" class="side" popover aria-label="Reference"><ul>${starts}</ul>
<h2>Guides</h2><ul>${guides}</ul>
<h2>Resources</h2><ul>${resources}</ul></nav>
<main id="main" tabindex="-1">${page.main}</main></div></body></html>`
}
