import { isHeldBy, type Restore } from '../../domain/operator/restore.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { fromIso, iso } from '../../domain/time.ts'
import { environment } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import { read, type Write } from '../table.ts'

type RestoreItem = Omit<Restore, 'begunAt' | 'releasedAt'> & {
  begunAt: string
  releasedAt: string | null
}

const fromItem = (item: Record<string, unknown>): Restore => {
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

/** Reads the last restore, strongly consistent. Returns undefined before any. */
export const findRestore = async (): Promise<Restore | undefined> => {
  const item = await read<Record<string, unknown>>(keys.restore)
  return item && fromItem(item)
}

/** Returns whether timeouts, payouts and refunds of a provider are held, strongly consistent. */
export const isHeld = async (provider: ProviderId): Promise<boolean> =>
  isHeldBy(await findRestore(), provider)

const generations = ttlCache<{ generation: number | undefined }>({ entriesMax: 1 })

/**
 * Returns the generation of events that are written now; undefined before any restore. A warm
 * function caches it, also when there is none: it is part of every write of an event.
 */
export const currentGeneration = async (now: Date): Promise<number | undefined> => {
  const known = await generations.get(
    'current',
    { now, seconds: environment.cacheSeconds },
    async () => ({ generation: (await findRestore())?.generation }),
  )
  return known?.generation
}

/** Writes what `change` makes of the last restore: see {@link changeSettings}. */
export const changeRestore = <C extends Restore | Refusal>(
  change: (before: Restore | undefined) => C,
  alongside: (before: Restore | undefined, after: Restore) => readonly Write[],
): Promise<C> =>
  changeSettings(keys.restore, { entity: 'restore', from: fromItem, to: toItem }, change, alongside)
