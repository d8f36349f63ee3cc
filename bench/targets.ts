import type { Target } from './target.ts'
import { bareBun, nginx } from './targets/ceilings.ts'
import { honoOnPostgres, oursOnPostgres } from './targets/on-postgres.ts'
import { ours } from './targets/ours.ts'
import { elysia, express, fastify, hono, jsonServer } from './targets/peers.ts'

/** In the order in which they take their turns. */
export const TARGETS: readonly Target[] = [
  ...[ours, hono, elysia, fastify, express, jsonServer, nginx, bareBun],
  ...[oursOnPostgres, honoOnPostgres],
]
