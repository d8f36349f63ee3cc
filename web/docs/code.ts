import { Html, html } from './html.ts'

export type Language = 'shell' | 'typescript' | 'python' | 'json' | 'http'

/** Each group of a pattern is named after the class of its tokens. */
const PATTERNS: Readonly<Record<Language, RegExp>> = {
  typescript:
    /(?<comment>\/\/.*)|(?<string>'(?:[^'\\]|\\.)*'|`[^`]*`)|\b(?<keyword>import|from|const|let|new|await|async|for|of|if|else|try|catch|throw|return|break|function)\b|(?<number>\b\d[\d_]*n?\b)/g,
  python:
    /(?<comment>#.*)|(?<string>'(?:[^'\\]|\\.)*'|"[^"]*")|\b(?<keyword>import|from|def|with|as|return|yield|for|in|try|except|if|elif|else|is|not|and|break|raise|class|None|True|False)\b|(?<number>\b\d+\b)/g,
  shell:
    /(?<comment>(?:^|(?<=\s))#.*)|(?<string>'[^']*'|"[^"]*")|(?<key>(?<=\s)-{1,2}[\w-]+)|(?<keyword>^(?:curl|npm|cd)\b)/gm,
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\d[\d.eE+-]*)|(?<keyword>true|false|null)/g,
  http: /(?<key>^[A-Za-z-]+(?=: ))|(?<keyword>^(?:GET|PATCH|POST|HTTP\/1\.1)\b)|(?<comment>^#.*)/gm,
}

/** The keyboard can scroll the code, and the script of the page adds a button that copies it. */
export function codeBlock(title: string, language: Language, code: string): Html {
  return html`<figure class="code"><figcaption class="code__head">${title}</figcaption><pre tabindex="0"><code>${colourCode(code, language)}</code></pre></figure>`
}

export interface Sample {
  readonly language: 'shell' | 'typescript' | 'python'
  readonly code: string
}

const SAMPLE_TITLES = { shell: 'curl', typescript: 'TypeScript', python: 'Python' } as const

/** The same sample in several languages. `id` is unique on the page. */
export function sampleTabs(id: string, title: string, samples: readonly Sample[]): Html {
  const tabs = samples.map(
    ({ language }, index) =>
      html`<label><input type="radio" name="${id}-sample" value="${language}"${index === 0 && new Html(' checked')}>${SAMPLE_TITLES[language]}</label>`,
  )
  const codes = samples.map(
    ({ language, code }) =>
      html`<pre tabindex="0" data-language="${language}"><code>${colourCode(code, language)}</code></pre>`,
  )
  return html`<fieldset class="code"><legend class="visually-hidden">${title}</legend><div class="code__head">${tabs}</div>${codes}</fieldset>`
}

function colourCode(code: string, language: Language): readonly Html[] {
  const parts: Html[] = []
  let end = 0
  for (const match of code.matchAll(PATTERNS[language])) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    parts.push(html`${code.slice(end, match.index)}<span class="code-${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return [...parts, html`${code.slice(end)}`]
}
