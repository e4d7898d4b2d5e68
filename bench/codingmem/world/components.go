package world

// Component is a part of a program. Several projects have the same ones: a symbol says nothing about the project.
type Component struct {
	Noun string // as memories and half of the questions call it
	Type string
	Fn   string
	Path string
	Ask  string // what it is, in words no memory uses
}

var components = []Component{
	{"session cache", "SessionCache", "evictIdle", "internal/session/cache.go", "thing remembering recognised visitors"},
	{"retry queue", "RetryQueue", "requeueFailed", "internal/queue/retry.go", "holding area for efforts to be made anew"},
	{"invoice exporter", "InvoiceExporter", "writeLedger", "billing/export/invoice.go", "paperwork wanting money from clients"},
	{"webhook dispatcher", "WebhookDispatcher", "deliverHook", "services/webhook/dispatch.go", "outgoing callbacks toward partners"},
	{"image resizer", "ImageResizer", "scaleBitmap", "media/resize/image.go", "picture shrinker"},
	{"search indexer", "SearchIndexer", "flushSegment", "search/index/writer.go", "finder of phrases in texts"},
	{"rate limiter", "RateLimiter", "takeToken", "internal/limit/limiter.go", "brake against excessive traffic"},
	{"config loader", "ConfigLoader", "mergeLayers", "internal/config/load.go", "reader of startup preferences"},
	{"token issuer", "TokenIssuer", "signClaims", "auth/token/issuer.go", "piece handing out credentials"},
	{"payment gateway", "PaymentGateway", "captureCharge", "billing/payment/gateway.go", "credit card bridge"},
	{"migration runner", "MigrationRunner", "applyPending", "db/migrate/runner.go", "schema evolution machinery"},
	{"event bus", "EventBus", "publishBatch", "internal/bus/bus.go", "announcement medium among modules"},
	{"lock manager", "LockManager", "grantNext", "internal/locks/manager.go", "mutual exclusion arbiter"},
	{"flag store", "FlagStore", "evalRule", "flags/store/rules.go", "gradual rollout toggles"},
	{"metrics collector", "MetricsCollector", "scrapeOnce", "obs/metrics/collect.go", "telemetry gatherer"},
	{"audit trail", "AuditTrail", "appendEntry", "audit/trail/append.go", "tamper-proof history"},
	{"file uploader", "FileUploader", "putChunk", "storage/upload/put.go", "attachment intake"},
	{"email sender", "EmailSender", "renderMessage", "notify/email/send.go", "outbound mail courier"},
	{"cron scheduler", "CronScheduler", "tickDue", "jobs/cron/schedule.go", "starter of background errands"},
	{"connection pool", "ConnPool", "acquireConn", "db/pool/pool.go", "database handles lent around"},
	{"report builder", "ReportBuilder", "pivotRows", "analytics/report/build.go", "summary spreadsheets producer"},
	{"user directory", "UserDirectory", "lookupAccount", "accounts/user/directory.go", "people registry"},
	{"api router", "ApiRouter", "matchRoute", "http/router/match.go", "URL endpoint chooser"},
	{"backup job", "BackupJob", "snapshotAll", "ops/backup/snapshot.go", "nightly safety clones"},
	{"graph resolver", "GraphResolver", "loadEdges", "graphql/resolve/edges.go", "nested field fetcher"},
	{"chat relay", "ChatRelay", "fanOut", "realtime/chat/relay.go", "live conversation forwarder"},
	{"pricing engine", "PricingEngine", "applyDiscount", "shop/pricing/engine.go", "calculator of what goods cost"},
	{"cart service", "CartService", "mergeCarts", "shop/cart/service.go", "basket preceding purchase"},
	{"inventory sync", "InventorySync", "pullStock", "warehouse/inventory/sync.go", "goods availability mirror"},
	{"geo locator", "GeoLocator", "resolveCity", "geo/locate/city.go", "guess of a visitor's whereabouts"},
	{"log shipper", "LogShipper", "tailFile", "obs/logs/ship.go", "mover of diagnostic lines"},
	{"secret vault", "SecretVault", "unsealKey", "security/vault/seal.go", "encrypted password strongbox"},
	{"template renderer", "TemplateRenderer", "expandMacro", "web/template/render.go", "markup producer"},
	{"video transcoder", "VideoTranscoder", "splitSegments", "media/video/transcode.go", "movie clip converter"},
	{"translation catalog", "TranslationCatalog", "pickPlural", "i18n/catalog/plural.go", "multilingual wording lists"},
	{"access policy", "AccessPolicy", "checkGrant", "auth/policy/check.go", "judge of who may see which resource"},
	{"document store", "DocumentStore", "compactPages", "storage/docs/store.go", "paper archive"},
	{"push notifier", "PushNotifier", "sendAlert", "notify/push/alert.go", "phone buzz announcements"},
	{"trace exporter", "TraceExporter", "flushSpans", "obs/trace/export.go", "distributed latency breadcrumbs"},
	{"import wizard", "ImportWizard", "mapColumns", "onboarding/import/wizard.go", "newcomer data ingestion helper"},
}

var projectNames = []string{
	"atlas", "borealis", "cinder", "dunlin", "ember", "fathom", "garnet", "halcyon", "isthmus", "juniper", "kestrel",
	"lantern", "marrow", "nimbus", "osprey", "pumice", "quarry", "rookery", "saffron", "tundra", "umbra", "verdant",
	"willow", "xenon", "yarrow", "zephyr", "alder", "bramble", "cobalt", "drift",
}

// vendor is a maker of agents and how its agents like to write.
type vendor struct {
	name     string
	register register
}

var vendors = []vendor{
	{"claude-code", prose}, {"codex", terse}, {"cursor", logline}, {"gemini", commit}, {"aider", diff},
}

var people = []string{
	"Priya", "Tomas", "Ines", "Kofi", "Marta", "Jun", "Leila", "Oskar", "Ravi", "Sanne", "Bogdan", "Chiara", "Dewi",
	"Emeka", "Freya", "Goran", "Hana", "Ivo", "Katya", "Luca", "Mbali", "Noor", "Pavel", "Quynh",
}

var teams = []string{"platform", "growth", "ledger", "identity", "edge", "insight", "reliability", "storefront"}

var libraries = []string{
	"pgx", "gin", "zerolog", "sarama", "redigo", "chi", "cobra", "viper", "otelgo", "gorm", "fsnotify", "bleve", "grpcgo",
	"nats", "minio", "jwtkit", "ristretto", "wazero", "templ", "goose", "squirrel", "zap", "echo", "colly",
}

var milestones = []string{
	"v3 migration", "EU launch", "monorepo split", "Postgres 16 cutover", "public beta", "SOC2 audit", "Black Friday freeze",
	"login rewrite", "Kubernetes move", "v4 rollout", "Frankfurt outage", "mobile launch",
}
