import type { Provider, ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { environment, type Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import { type Item, queryAll, read, readMany, statusQuery, type Write } from '../table.ts'

export const findProvider = async (id: ProviderId): Promise<Provider | undefined> => {
  const item = await read<Item>(keys.provider(id))
  return item && fromItem(item)
}

const fromItem = (item: Item): Provider => {
  const { byStatus, byTime, ...provider } = settingsIn<Provider & Listed>(item)
  return provider
}

type Listed = { byStatus: string; byTime: string }

/** Lists the ids of all providers, sorted. The index may lag. */
export const listProviders = async (): Promise<ProviderId[]> => {
  const entries = await queryAll(statusQuery(keys.providers))
  return entries.map(({ byTime }) => byTime as ProviderId)
}

/** Reads all providers, by id. */
export const loadProviders = async (): Promise<Provider[]> => {
  const items = await readMany((await listProviders()).map(keys.provider))
  return items.map(fromItem).sort((one, other) => (one.id < other.id ? -1 : 1))
}

const names = ttlCache<string>({ entriesMax: 10_000 })

/** Returns the names of providers, cached by a warm function. */
export const providerNames = async (
  ids: ReadonlySet<ProviderId>,
  now: Date,
): Promise<ReadonlyMap<ProviderId, string>> => {
  const when = { now, seconds: environment.cacheSeconds }
  const entries = await Promise.all(
    [...ids].map(async (id) => {
      const name = await names.get(id, when, async () => (await findProvider(id))?.name)
      return [id, name ?? id] as const
    }),
  )
  return new Map(entries)
}

const toItem = (provider: Provider): Provider & Listed => ({
  ...provider,
  byStatus: keys.providers,
  byTime: provider.id,
})

/** Changes a provider: see {@link changeSettings}. */
export const changeProvider = (
  id: ProviderId,
  change: (previous: Provider | undefined) => Provider | Refusal | Promise<Provider | Refusal>,
  alongside: (previous: Provider | undefined, next: Provider) => readonly Write[],
  runtime: Runtime,
): Promise<Provider | Refusal> => {
  const form = { entity: 'provider', from: fromItem, to: toItem }
  return changeSettings(keys.provider(id), form, change, alongside, runtime)
}
