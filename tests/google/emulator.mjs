// Gmail, Calendar, Drive and the login by @emulators/google, on a free port of 127.0.0.1.
// What it does not have (changing events, content, trash, search, export) is added on its own
// store. Everything that was asked is kept, for the tests to hold it against Google's documents.

import { createServer } from "@emulators/core";
import { getGoogleStore, googlePlugin, seedFromConfig } from "@emulators/google";
import { serve } from "@hono/node-server";

let current;
let asked = [];

const refused = (c, code, message, reason, status) =>
  c.json({ error: { code, message, errors: [{ message, domain: "global", reason }], status } }, code);
const missing = (c) => refused(c, 404, "Requested entity was not found.", "notFound", "NOT_FOUND");

function additions(app, store) {
  const google = getGoogleStore(store);
  const user = (c) => c.get("authUser")?.login;
  const again = (c, path) =>
    app.request(path, { headers: { authorization: c.req.header("authorization") } });
  const own = (collection, c, id) =>
    collection.findBy("user_email", user(c)).find((each) => each.google_id === id);

  app.use("*", async (c, next) => {
    const authorized = ["/drive", "/upload", "/calendar", "/gmail"];
    if (authorized.some((each) => c.req.path.startsWith(each)) && !user(c))
      return refused(c, 401, "Request had invalid authentication credentials.", "authError", "UNAUTHENTICATED");
    await next();
  });

  app.patch("/calendar/v3/calendars/:calendar/events/:event", async (c) => {
    const event = own(google.calendarEvents, c, c.req.param("event"));
    if (!event) return missing(c);
    const body = await c.req.json();
    google.calendarEvents.update(event.id, { summary: body.summary ?? event.summary });
    const listed = await again(c, `/calendar/v3/calendars/${c.req.param("calendar")}/events?maxResults=250`);
    const found = (await listed.json()).items.find((each) => each.id === event.google_id);
    return found ? c.json(found) : missing(c);
  });

  app.get("/drive/v3/files", async (c, next) => {
    const terms = [...(c.req.query("q") ?? "").matchAll(/(name|fullText) contains '((?:[^'\\]|\\.)*)'/g)];
    if (!terms.length) return next();
    const words = terms.map(([, field, quoted]) => [field, quoted.replace(/\\(.)/g, "$1").toLowerCase()]);
    const holds = (file) =>
      words.some(([field, word]) =>
        (file.name + (field === "fullText" ? Buffer.from(file.data ?? "", "base64url") : ""))
          .toLowerCase()
          .includes(word),
      );
    const found = google.driveItems.findBy("user_email", user(c)).filter((each) => !each.trashed && holds(each));
    const files = found.map((each) => ({ kind: "drive#file", id: each.google_id, name: each.name, mimeType: each.mime_type }));
    return c.json({ kind: "drive#fileList", files });
  });

  app.patch("/drive/v3/files/:file", async (c, next) => {
    const file = own(google.driveItems, c, c.req.param("file"));
    if (!file) return missing(c);
    const body = await c.req.raw.clone().json();
    if ("trashed" in body) google.driveItems.update(file.id, { trashed: body.trashed });
    await next();
  });

  app.patch("/upload/drive/v3/files/:file", async (c) => {
    const file = own(google.driveItems, c, c.req.param("file"));
    if (!file) return missing(c);
    const content = Buffer.from(await c.req.raw.arrayBuffer());
    google.driveItems.update(file.id, { data: content.toString("base64url"), size: content.length });
    return again(c, `/drive/v3/files/${file.google_id}`);
  });

  app.get("/drive/v3/files/:file/export", (c) => {
    const file = own(google.driveItems, c, c.req.param("file"));
    if (!file) return missing(c);
    return new Response(Buffer.from(file.data ?? "", "base64url"), {
      headers: { "content-type": c.req.query("mimeType") },
    });
  });
}

function begin(config) {
  asked = [];
  const plugin = {
    ...googlePlugin,
    register(app, store, ...rest) {
      additions(app, store);
      googlePlugin.register(app, store, ...rest);
    },
  };
  current = createServer(plugin, { baseUrl: "http://127.0.0.1" });
  seedFromConfig(current.store, current.baseUrl, config);
}

async function control(path, body) {
  if (path === "/_control/begin") begin(body);
  if (path === "/_control/redirect") {
    const clients = getGoogleStore(current.store).oauthClients;
    for (const each of clients.all()) clients.update(each.id, { redirect_uris: [body.address] });
  }
  if (path === "/_control/expire") current.tokenMap.clear();
  return Response.json({ asked });
}

async function answered(request) {
  const { pathname, search } = new URL(request.url);
  const body = Buffer.from(await request.clone().arrayBuffer());
  if (pathname.startsWith("/_control/")) return control(pathname, JSON.parse(body.toString() || "{}"));
  asked.push({
    method: request.method,
    path: pathname,
    query: search.slice(1),
    kind: request.headers.get("content-type") ?? "",
    body: body.toString("base64"),
  });
  return current.app.fetch(request);
}

begin({});
serve({ fetch: answered, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log(`ready ${port}`));
