/** Replies with a body of the size in its path. */
export const handler = async ({ path, size = Number(path?.slice(1)) }: Event) => ({
  statusCode: 200,
  headers: {},
  body: 'x'.repeat(size),
})

type Event = { path?: string; size?: number }
