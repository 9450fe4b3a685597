import type { Provider, ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { environment } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import { queryAll, read, readMany, type Write } from '../table.ts'

export const findProvider = async (id: ProviderId): Promise<Provider | undefined> => {
  const item = await read<Record<string, unknown>>(keys.provider(id))
  return item && fromItem(item)
}

const fromItem = (item: Record<string, unknown>): Provider => {
  const { byStatus, byTime, ...provider } = settingsIn<Provider & Listed>(item)
  return provider
}

type Listed = { byStatus: string; byTime: string }

/** Every provider, by id; a new one a little late. */
export const listProviders = async (): Promise<ProviderId[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :providers',
    ExpressionAttributeValues: { ':providers': keys.providers },
  })
  return found.map(({ byTime }) => byTime as ProviderId)
}

/** Every provider with its settings, by id. */
export const loadProviders = async (): Promise<Provider[]> => {
  const items = await readMany((await listProviders()).map(keys.provider))
  return items.map(fromItem).sort((one, other) => (one.id < other.id ? -1 : 1))
}

const names = ttlCache<string>({ entriesMax: 10_000 })

/** What providers are called, remembered by a warm function. */
export const providerNames = async (
  ids: ReadonlySet<ProviderId>,
  now: Date,
): Promise<ReadonlyMap<ProviderId, string>> => {
  const when = { now, seconds: environment.cacheSeconds }
  const known = await Promise.all(
    [...ids].map(async (id) => {
      const name = await names.get(id, when, async () => (await findProvider(id))?.name)
      return [id, name ?? id] as const
    }),
  )
  return new Map(known)
}

const toItem = (provider: Provider): Provider & Listed => ({
  ...provider,
  byStatus: keys.providers,
  byTime: provider.id,
})

/** Writes what `change` makes of a provider as it stands: see {@link changeSettings}. */
export const changeProvider = (
  id: ProviderId,
  change: (before: Provider | undefined) => Provider | Refusal | Promise<Provider | Refusal>,
  alongside?: (before: Provider | undefined, after: Provider) => readonly Write[],
): Promise<Provider | Refusal> =>
  changeSettings(
    keys.provider(id),
    { entity: 'provider', from: fromItem, to: toItem },
    change,
    alongside,
  )
