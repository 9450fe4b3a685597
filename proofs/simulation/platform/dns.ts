import { current } from '../engine/current.ts'

/** Replaces `node:dns/promises`. */
export const lookup = (host: string): Promise<{ address: string }[]> =>
  current().network.lookup(host)
