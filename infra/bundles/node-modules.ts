import { builtinModules } from 'node:module'
import type { Plugin } from 'esbuild'

/**
 * Node's own modules, asked for by a call. An import of node:http as an ES module touches every
 * name that it exports, and some of these load a WebSocket client: 22 ms of a cold start.
 */
export const nodeModules: Plugin = {
  name: 'node-modules',
  setup: ({ onResolve, onLoad }) => {
    const names = new RegExp(`^(?:node:.+|${builtinModules.join('|')})$`)
    onResolve({ filter: names }, ({ path }) => ({
      path: path.startsWith('node:') ? path : `node:${path}`,
      namespace: 'node-modules',
    }))
    onLoad({ filter: /./, namespace: 'node-modules' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}
