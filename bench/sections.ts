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
  {
    section: 'instances',
    title: 'Several instances on PostgreSQL',
    explanation: [
      'Updates and orders of 10,000 pets, drawn at random, or orders of one pet, from callers that are spread evenly over',
      'the instances; ours beside',
      'the peer with as many instances and as many connections to PostgreSQL. The instances, PostgreSQL and wrk share',
      'two cores, as the kernel sees fit: more instances are there to use more than one. Delayed are commits by',
      "PostgreSQL's own `commit_delay` with `commit_siblings` = 0: it waits for so long before it writes to disk what is",
      'then to be committed. In brackets is what a commit of one connection took. The slowest second is that of all',
      'rounds with the fewest answers, as a part of the median second. Two callers beside the load look at each',
      'answer; after each round every instance lists what the database holds, and that is what was acknowledged last;',
      'as much is reserved as was ordered, and PostgreSQL has ended no deadlock. Where all want one pet, the slowest',
      "caller is the one with the fewest answers in two seconds, as a part of the median caller's, beside the longest",
      'that anybody waited.',
    ].join('\n'),
  },
]
