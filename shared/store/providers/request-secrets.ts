import type { ProviderId, RequestSigning } from '../../domain/providers/provider.ts'
import type { Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'

/**
 * The secrets of providers that sign their requests (docs/api.md#request-signing), sealed in the item
 * of the provider. The client of the sealing key is a separate bundle file, loaded on first use.
 */

const sealing = () => import('../sealing.ts')

/** Differs from the owner of a webhook secret, which is sealed with the same key. */
const ownerOf = (id: ProviderId): string => `REQUESTS#${id}`

export const sealRequestSecret = async (
  id: ProviderId,
  secret: string,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<string> => (await sealing()).seal(secret, ownerOf(id), runtime)

const opened = ttlCache<string>(10_000)

/** Opens the secrets that are accepted at this time, the newest first. */
export const openRequestSecrets = (
  id: ProviderId,
  { secret, previous }: RequestSigning,
  now: Date,
): Promise<string[]> => {
  const isAccepted = previous && now < new Date(previous.until)
  const sealed = isAccepted ? [secret, previous.secret] : [secret]
  return Promise.all(sealed.map((text) => open(id, text, now)))
}

const open = async (id: ProviderId, sealed: string, now: Date): Promise<string> => {
  const secret = await opened(sealed, now, async () =>
    (await sealing()).unseal(sealed, ownerOf(id)),
  )
  if (!secret) throw new Error(`A request-signing secret of ${id} is empty`)
  return secret
}
