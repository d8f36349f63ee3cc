import type { Dataset } from './dataset.ts'
import { createPostgresDatabase, vacuum } from './postgres.ts'
import { BOTH_CORES, type ServerProcess } from './processes.ts'
import type { RunningTarget, Secrets, SharedTarget } from './target.ts'

/** The instances of one target, all on one database. They are paused together, and so is nobody's partner alone. */
export class InstanceGroup {
  readonly target: SharedTarget
  readonly database: string
  readonly secrets: Secrets
  readonly #folder: string
  readonly #instances: ServerProcess[] = []

  static async prepare(target: SharedTarget, dataset: Dataset): Promise<InstanceGroup> {
    const name = `instances_${target.name.replaceAll('-', '_')}`
    const database = await createPostgresDatabase(name, BOTH_CORES)
    const secrets = await target.prepare(dataset, database)
    await vacuum(database)
    return new InstanceGroup(target, database, secrets, dataset.folder)
  }

  private constructor(target: SharedTarget, database: string, secrets: Secrets, folder: string) {
    this.target = target
    this.database = database
    this.secrets = secrets
    this.#folder = folder
  }

  get urls(): readonly string[] {
    return this.#instances.map(({ url }) => url)
  }

  get first(): Pick<RunningTarget, 'url' | 'secrets'> {
    const [url] = this.urls
    if (url === undefined) throw new Error(`no instance of ${this.target.name} is started`)
    return { url, secrets: this.secrets }
  }

  /** Starts what is missing, and leaves all paused. */
  async growTo(count: number): Promise<void> {
    this.resume()
    while (this.#instances.length < count) {
      const name = `${this.target.name}-${this.#instances.length + 1}`
      const where = { folder: this.#folder, cores: BOTH_CORES }
      this.#instances.push(await this.target.startInstance(name, this.database, where))
    }
    this.pause()
  }

  pause(): void {
    for (const instance of this.#instances) instance.pause()
  }

  resume(): void {
    for (const instance of this.#instances) instance.resume()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => instance.stop()))
  }
}
