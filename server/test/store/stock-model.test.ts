import { setDefaultTimeout } from 'bun:test'
import { rmSync } from 'node:fs'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { freshFile } from './fresh-file.ts'
import { stockModelSuite } from './stock-model-suite.ts'

setDefaultTimeout(240_000)

const file = freshFile()
const sqlite = {
  create: async () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file.path + suffix, { force: true })
  },
  open: async () => openSqliteStore(file.path),
}

stockModelSuite('SQLite', sqlite, { runs: 60, steps: 60 })
