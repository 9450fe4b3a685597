import type { Restore } from '../../domain/operator/restore.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import { fromStored, toStored } from '../stored.ts'
import { find, type Item, type Write } from '../table.ts'

const fromItem = (item: Item) =>
  fromStored<Restore>(settingsIn(item), { begunAt: true, releasedAt: true })

export const findRestore = (): Promise<Restore | undefined> => find(keys.restore, fromItem)

const cached = ttlCache<{ restore: Restore | undefined }>(1)

/** Returns the latest restore from a cache. */
export const latestRestore = async (now: Date): Promise<Restore | undefined> => {
  const load = async () => ({ restore: await findRestore() })
  return (await cached('latest', now, load)).restore
}

/** Returns the generation of new events, cached; undefined before any restore. */
export const currentGeneration = async (now: Date): Promise<number | undefined> =>
  (await latestRestore(now))?.generation

export const changeRestore = <C extends Restore | Refusal>(
  change: (previous: Restore | undefined) => C,
  alongside: (previous: Restore | undefined, next: Restore) => readonly Write[],
  runtime: Runtime,
): Promise<C> => {
  const form = { entity: 'restore', from: fromItem, to: toStored<Restore> }
  return changeSettings(keys.restore, form, change, alongside, runtime)
}
