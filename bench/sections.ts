import type { Section } from './target.ts'

/** The parts of the report, in their order. */
export const SECTIONS: readonly { section: Section; title: string; explanation: string }[] = [
  {
    section: 'embedded',
    title: 'With the data in the process',
    explanation: [
      'Ours and the peers on SQLite with synchronous=FULL; json-server has no keys and syncs nothing. nginx and',
      'the bare Bun.serve are ceilings, not peers: they check nothing and cannot be changed.',
    ].join('\n'),
  },
  {
    section: 'postgres',
    title: 'On PostgreSQL',
    explanation: [
      'One PostgreSQL with its default settings, so that each commit is on disk, and a database for each target.',
      'It shares the core of the server that it works for. The peer sends one statement for each request.',
    ].join('\n'),
  },
]
