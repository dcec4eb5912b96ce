import type { NextConfig } from 'next'

/** Security headers, caching and the gate are the web process's own (lib/api); Next only renders what that hands to it. */
const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  agentRules: false,
  // `npm run check` does it, for all rooms and not only for these; a first start needn't wait for it.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: import.meta.dirname },
  experimental: {
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', '@tabler/icons-react'],
  },
}

export default config
