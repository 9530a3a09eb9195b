// What the library imports of node:zlib. The page's handlers never return a compressed response.
const unavailable = () => {
  throw new Error("not available in a browser");
};

export const brotliDecompressSync = unavailable;
export const gunzipSync = unavailable;
export const inflateSync = unavailable;
