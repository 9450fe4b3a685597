import { current } from '../engine/current.ts'

/** In place of the name system: every receiver of the world has an address. */
export const lookup = (host: string): Promise<{ address: string }[]> =>
  current().network.lookup(host)
