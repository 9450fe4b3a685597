import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { listedEvents } from '../../shared/store/webhooks/feed.ts'

/** After the key of each page. */
const LAST_KEY = '~'

/** Returns the newest events of a provider, newest first. */
export const listNewest = async (provider: ProviderId, limit: number) =>
  (await Array.fromAsync(listedEvents(provider, LAST_KEY)))
    .flat()
    .map(({ entry }) => entry)
    .slice(0, limit)
