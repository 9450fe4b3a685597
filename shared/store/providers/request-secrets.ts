import type { ProviderId, RequestSigning } from '../../domain/providers/provider.ts'
import { environment } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'

/**
 * The secrets that providers sign their requests with. They are sealed in the provider's own item,
 * so reading it costs no further call. Only a provider that signs loads the client for the sealing
 * key: its bundle is a file of its own (infra/bundles/build.ts).
 */

const sealing = () => import('../sealing.ts')

/** Never the owner of a webhook secret, which is sealed under the same key. */
const ownerOf = (id: ProviderId): string => `REQUESTS#${id}`

export const sealRequestSecret = async (id: ProviderId, secret: string): Promise<string> =>
  (await sealing()).seal(secret, ownerOf(id))

const opened = ttlCache<string>({ entriesMax: 10_000 })

/** The secrets that are accepted at this time, the newest first. */
export const openRequestSecrets = (
  id: ProviderId,
  { secret, previous }: RequestSigning,
  now: Date,
): Promise<string[]> => {
  const isAccepted = previous && now < new Date(previous.until)
  const sealed = isAccepted ? [secret, previous.secret] : [secret]
  return Promise.all(sealed.map((one) => open(id, one, now)))
}

const open = async (id: ProviderId, sealed: string, now: Date): Promise<string> => {
  const when = { now, seconds: environment.cacheSeconds }
  const load = async () => (await sealing()).unseal(sealed, ownerOf(id))
  const secret = await opened.get(sealed, when, load)
  if (!secret) throw new Error(`A request-signing secret of ${id} is empty`)
  return secret
}
