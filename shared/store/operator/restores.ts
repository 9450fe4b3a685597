import { isHeldBy, type Restore } from '../../domain/operator/restore.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { fromIso, iso } from '../../domain/time.ts'
import { environment, type Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import { type Item, read, type Write } from '../table.ts'

type RestoreItem = Omit<Restore, 'begunAt' | 'releasedAt'> & {
  begunAt: string
  releasedAt: string | null
}

const fromItem = (item: Item): Restore => {
  const restore = settingsIn<RestoreItem>(item)
  return {
    ...restore,
    begunAt: new Date(restore.begunAt),
    releasedAt: fromIso(restore.releasedAt),
  }
}

const toItem = (restore: Restore): RestoreItem => ({
  ...restore,
  begunAt: restore.begunAt.toISOString(),
  releasedAt: iso(restore.releasedAt),
})

/** Reads the last restore, strongly consistent. */
export const findRestore = async (): Promise<Restore | undefined> => {
  const item = await read<Item>(keys.restore)
  return item && fromItem(item)
}

/**
 * Reports whether timeouts, payouts and refunds of a provider are held, strongly consistent
 * (docs/api.md#restores).
 */
export const isHeld = async (provider: ProviderId): Promise<boolean> =>
  isHeldBy(await findRestore(), provider)

const generations = ttlCache<{ generation: number | undefined }>({ entriesMax: 1 })

/**
 * Returns the generation of new events; undefined before any restore. A warm function caches it,
 * because every write of an event needs it.
 */
export const currentGeneration = async (now: Date): Promise<number | undefined> => {
  const cached = await generations.get(
    'current',
    { now, seconds: environment.cacheSeconds },
    async () => ({ generation: (await findRestore())?.generation }),
  )
  return cached?.generation
}

/** Changes the last restore: see {@link changeSettings}. */
export const changeRestore = <C extends Restore | Refusal>(
  change: (previous: Restore | undefined) => C,
  alongside: (previous: Restore | undefined, next: Restore) => readonly Write[],
  runtime: Runtime,
): Promise<C> => {
  const form = { entity: 'restore', from: fromItem, to: toItem }
  return changeSettings(keys.restore, form, change, alongside, runtime)
}
