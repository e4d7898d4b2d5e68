//go:build conformance

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// This build carries what the official conformance suite asks for by name, so that the suite can judge the same door
// and transport that ship. The names and texts are the suite's.

func conformanceFlags(fs *flag.FlagSet, o *options) {
	fs.Func("http", "address to serve streamable HTTP on, host:port", func(addr string) error {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return err
		}
		o.transport, o.host = "http", host
		o.port, err = strconv.Atoi(port)
		return err
	})
}

func conformanceOptions() []server.ServerOption {
	return []server.ServerOption{server.WithElicitation(), server.WithLegacyServerInitiatedRequests()}
}

func addFixtures(s *server.MCPServer) {
	s.EnableSampling()
	contentFixtures(s)
	streamFixtures(s)
	askingFixtures(s)
	schemaFixture(s)
	resourceFixtures(s)
	promptFixtures(s)
}

const (
	testImage = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	testAudio = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

// fixed adds a tool that always answers with content.
func fixed(s *server.MCPServer, name, text string, content ...mcp.Content) {
	s.AddTool(mcp.NewTool(name, mcp.WithDescription(text)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	})
}

func contentFixtures(s *server.MCPServer) {
	fixed(s, "test_simple_text", "Returns a text", mcp.NewTextContent("This is a simple text response for testing."))
	fixed(s, "test_image_content", "Returns an image", mcp.NewImageContent(testImage, "image/png"))
	fixed(s, "test_audio_content", "Returns audio", mcp.NewAudioContent(testAudio, "audio/wav"))
	fixed(s, "test_embedded_resource", "Returns an embedded resource", mcp.NewEmbeddedResource(mcp.TextResourceContents{
		URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content.",
	}))
	fixed(s, "test_multiple_content_types", "Returns a text, an image and a resource",
		mcp.NewTextContent("Multiple content types test:"), mcp.NewImageContent(testImage, "image/png"),
		mcp.NewEmbeddedResource(mcp.TextResourceContents{
			URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`,
		}))
	s.AddTool(mcp.NewTool("test_error_handling", mcp.WithDescription("Fails")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
}

// gap is the pause between a fixture's notifications, and before its result (see mcpapi's quiet gap).
const gap = 50 * time.Millisecond

func streamFixtures(s *server.MCPServer) {
	s.AddTool(mcp.NewTool("test_tool_with_logging", mcp.WithDescription("Logs while it runs")),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				params := map[string]any{"level": "info", "logger": "conformance-test-server", "data": text}
				if err := s.SendNotificationToClient(ctx, string(mcp.MethodNotificationMessage), params); err != nil {
					return nil, err
				}
				sleep(ctx, gap)
			}
			return mcp.NewToolResultText("Tool with logging executed successfully"), nil
		})
	s.AddTool(mcp.NewTool("test_tool_with_progress", mcp.WithDescription("Reports progress")),
		func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
				return mcp.NewToolResultText("progress was not asked for"), nil
			}
			for _, done := range []int{0, 50, 100} {
				params := map[string]any{"progressToken": req.Params.Meta.ProgressToken, "progress": done, "total": 100}
				if err := s.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), params); err != nil {
					return nil, err
				}
				sleep(ctx, gap)
			}
			return mcp.NewToolResultText("progress reported"), nil
		})
	fixed(s, "test_reconnection", "Answers after a reconnection", mcp.NewTextContent("Reconnection test completed."))
}

// asked is the result of a fixture that asked the client.
func asked(text string, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	return mcp.NewToolResultText(text), nil
}

func askingFixtures(s *server.MCPServer) {
	s.AddTool(mcp.NewTool("test_sampling", mcp.WithDescription("Asks the client's model"), mcp.WithString("prompt", mcp.Required())),
		func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := s.RequestSampling(ctx, mcp.CreateMessageRequest{
				Request: mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)},
				CreateMessageParams: mcp.CreateMessageParams{
					Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(req.GetString("prompt", ""))}},
					MaxTokens: 100,
				},
			})
			if err != nil {
				return asked("", err)
			}
			content, ok := res.Content.(mcp.TextContent)
			if !ok {
				return asked("", errors.New("the model did not answer with a text"))
			}
			return asked("LLM response: "+content.Text, nil)
		})
	elicit(s, "test_elicitation", "User response", map[string]any{
		"type": "object", "required": []string{"username", "email"},
		"properties": map[string]any{
			"username": map[string]any{"type": "string", "description": "User's response"},
			"email":    map[string]any{"type": "string", "description": "User's email address"},
		},
	}, mcp.WithString("message", mcp.Required()))
	elicit(s, "test_elicitation_sep1034_defaults", "Elicitation completed", map[string]any{
		"type": "object",
		"properties": map[string]any{
			"name": map[string]any{"type": "string", "default": "John Doe"}, "age": map[string]any{"type": "integer", "default": 30},
			"score":    map[string]any{"type": "number", "default": 95.5},
			"status":   map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
			"verified": map[string]any{"type": "boolean", "default": true},
		},
	})
	titled := []any{map[string]any{"const": "value1", "title": "First Option"}, map[string]any{"const": "value2", "title": "Second Option"}}
	plain := []string{"option1", "option2", "option3"}
	elicit(s, "test_elicitation_sep1330_enums", "Elicitation completed", map[string]any{
		"type": "object",
		"properties": map[string]any{
			"untitledSingle": map[string]any{"type": "string", "enum": plain},
			"titledSingle":   map[string]any{"type": "string", "oneOf": titled},
			"legacyEnum":     map[string]any{"type": "string", "enum": []string{"opt1", "opt2"}, "enumNames": []string{"Option One", "Option Two"}},
			"untitledMulti":  map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": plain}},
			"titledMulti":    map[string]any{"type": "array", "items": map[string]any{"anyOf": titled}},
		},
	})
}

// elicit adds a tool that asks the user for schema and answers with what came back.
func elicit(s *server.MCPServer, name, prefix string, schema map[string]any, more ...mcp.ToolOption) {
	s.AddTool(mcp.NewTool(name, append(more, mcp.WithDescription("Asks the user"))...),
		func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{
				Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)},
				Params:  mcp.ElicitationParams{Message: req.GetString("message", "Please fill in"), RequestedSchema: schema},
			})
			if err != nil {
				return asked("", err)
			}
			return asked(fmt.Sprintf("%s: action=%s, content=%v", prefix, res.Action, res.Content), nil)
		})
}

func schemaFixture(s *server.MCPServer) {
	tool := mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema",
		"type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`))
	s.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("JSON Schema 2020-12 tool called"), nil
	})
}

func resourceFixtures(s *server.MCPServer) {
	s.AddResource(mcp.NewResource("test://static-text", "static-text", mcp.WithResourceDescription("A text"), mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."}}, nil
		})
	s.AddResource(mcp.NewResource("test://static-binary", "static-binary", mcp.WithResourceDescription("An image"), mcp.WithMIMEType("image/png")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: testImage}}, nil
		})
	s.AddResource(mcp.NewResource("test://watched-resource", "watched", mcp.WithResourceDescription("To subscribe to"), mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched."}}, nil
		})
	s.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template", mcp.WithTemplateDescription("By id"), mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id, _, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, "test://template/"), "/")
			text := fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: text}}, nil
		})
}

// prompt adds a prompt that answers with content.
func prompt(s *server.MCPServer, p mcp.Prompt, content func(args map[string]string) []mcp.Content) {
	s.AddPrompt(p, func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		res := &mcp.GetPromptResult{}
		for _, c := range content(req.Params.Arguments) {
			res.Messages = append(res.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
		}
		return res, nil
	})
}

func promptFixtures(s *server.MCPServer) {
	prompt(s, mcp.NewPrompt("test_simple_prompt", mcp.WithPromptDescription("Without arguments")), func(map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewTextContent("This is a simple prompt for testing.")}
	})
	prompt(s, mcp.NewPrompt("test_prompt_with_arguments", mcp.WithPromptDescription("With arguments"),
		mcp.WithArgument("arg1", mcp.RequiredArgument()), mcp.WithArgument("arg2", mcp.RequiredArgument())), func(args map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))}
	})
	prompt(s, mcp.NewPrompt("test_prompt_with_embedded_resource", mcp.WithPromptDescription("With a resource"),
		mcp.WithArgument("resourceUri", mcp.RequiredArgument())), func(args map[string]string) []mcp.Content {
		return []mcp.Content{
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: args["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
			mcp.NewTextContent("Please process the embedded resource above."),
		}
	})
	prompt(s, mcp.NewPrompt("test_prompt_with_image", mcp.WithPromptDescription("With an image")), func(map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewImageContent(testImage, "image/png"), mcp.NewTextContent("Please analyze the image above.")}
	})
}
